// Thrust's iterators that make their elements (counting, constant, transform, zip, ...), and `view`: a range brought to
// the host, worked on there, and put back. Every algorithm here is a loop over views.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <thrust/sim/pointer.h>

namespace thrust
{
using std::get;
using std::make_pair;
using std::make_tuple;
using std::pair;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;

namespace sim_detail
{
// The arithmetic that any random-access iterator has, over an index.
template <class Self> struct indexed {
    typedef std::random_access_iterator_tag iterator_category;
    typedef ptrdiff_t difference_type;

    ptrdiff_t index = 0;

    Self &operator++()
    {
        index++;
        return self();
    }
    Self operator++(int)
    {
        Self old = self();
        index++;
        return old;
    }
    Self &operator+=(ptrdiff_t n)
    {
        index += n;
        return self();
    }
    Self operator+(ptrdiff_t n) const
    {
        Self moved = static_cast<const Self &>(*this);
        moved.index += n;
        return moved;
    }
    Self operator-(ptrdiff_t n) const
    {
        return *this + -n;
    }
    ptrdiff_t operator-(const Self &other) const
    {
        return place() - other.place();
    }
    bool operator==(const Self &other) const
    {
        return place() == other.place();
    }
    bool operator!=(const Self &other) const
    {
        return place() != other.place();
    }
    bool operator<(const Self &other) const
    {
        return place() < other.place();
    }
    ptrdiff_t place() const
    {
        return index + static_cast<const Self &>(*this).start();
    }
    ptrdiff_t start() const
    {
        return 0;
    }

  private:
    Self &self()
    {
        return static_cast<Self &>(*this);
    }
};
} // namespace sim_detail

template <class T> struct counting_iterator : sim_detail::indexed<counting_iterator<T>> {
    typedef T value_type;
    typedef T reference;
    typedef const T *pointer;
    T first;
    explicit counting_iterator(T value = T()) : first(value)
    {
    }
    T operator*() const
    {
        return (T)(first + (T)this->index);
    }
    T operator[](ptrdiff_t i) const
    {
        return (T)(first + (T)(this->index + i));
    }
    ptrdiff_t start() const
    {
        return (ptrdiff_t)first;
    }
};

template <class T> struct constant_iterator : sim_detail::indexed<constant_iterator<T>> {
    typedef T value_type;
    typedef T reference;
    typedef const T *pointer;
    T value;
    explicit constant_iterator(T constant = T()) : value(constant)
    {
    }
    T operator*() const
    {
        return value;
    }
    T operator[](ptrdiff_t) const
    {
        return value;
    }
};

struct discard_iterator : sim_detail::indexed<discard_iterator> {
    typedef int value_type;
};

template <class Function, class Base, class = void, class = void>
struct transform_iterator : sim_detail::indexed<transform_iterator<Function, Base>> {
    typedef typename std::iterator_traits<Base>::value_type base_value;
    typedef typename std::decay<decltype(std::declval<Function>()(std::declval<base_value>()))>::type value_type;
    typedef value_type reference;
    typedef const value_type *pointer;
    Base base;
    Function function;
    transform_iterator(Base from, Function f) : base(from), function(f)
    {
    }
    value_type operator*() const
    {
        return function((base_value)base[this->index]);
    }
};

template <class Elements, class Indices>
struct permutation_iterator : sim_detail::indexed<permutation_iterator<Elements, Indices>> {
    typedef typename std::iterator_traits<Elements>::value_type value_type;
    typedef value_type reference;
    typedef const value_type *pointer;
    Elements elements;
    Indices indices;
    permutation_iterator(Elements from, Indices at) : elements(from), indices(at)
    {
    }
};

template <class Tuple> struct zip_iterator;
template <class... Bases>
struct zip_iterator<std::tuple<Bases...>> : sim_detail::indexed<zip_iterator<std::tuple<Bases...>>> {
    typedef std::tuple<typename std::iterator_traits<Bases>::value_type...> value_type;
    typedef value_type reference;
    typedef const value_type *pointer;
    std::tuple<Bases...> bases;
    explicit zip_iterator(const std::tuple<Bases...> &from) : bases(from)
    {
    }
    const std::tuple<Bases...> &get_iterator_tuple() const
    {
        return bases;
    }
    ptrdiff_t operator-(const zip_iterator &other) const
    {
        return std::get<0>(bases) - std::get<0>(other.bases) + this->index - other.index;
    }
};

template <class T> inline counting_iterator<T> make_counting_iterator(T first)
{
    return counting_iterator<T>(first);
}
template <class T> inline constant_iterator<T> make_constant_iterator(T value)
{
    return constant_iterator<T>(value);
}
inline discard_iterator make_discard_iterator()
{
    return discard_iterator();
}
template <class Base, class Function>
inline transform_iterator<Function, Base> make_transform_iterator(Base base, Function function)
{
    return transform_iterator<Function, Base>(base, function);
}
template <class E, class I> inline permutation_iterator<E, I> make_permutation_iterator(E elements, I indices)
{
    return permutation_iterator<E, I>(elements, indices);
}
template <class... Bases> inline zip_iterator<std::tuple<Bases...>> make_zip_iterator(const std::tuple<Bases...> &bases)
{
    return zip_iterator<std::tuple<Bases...>>(bases);
}
template <class First, class... Bases>
inline zip_iterator<std::tuple<First, Bases...>> make_zip_iterator(First first, Bases... rest)
{
    return zip_iterator<std::tuple<First, Bases...>>(std::tuple<First, Bases...>(first, rest...));
}
template <class First, class Last> inline ptrdiff_t distance(First first, Last last)
{
    return last - first;
}
template <class Iterator, class Distance> inline void advance(Iterator &iterator, Distance n)
{
    iterator += (ptrdiff_t)n;
}

namespace sim_detail
{
// SOME reads, KEEP changes some of the elements and leaves the others as they are.
enum access { READ, WRITE, CHANGE, SOME, KEEP };

// Whether an iterator can go to any place, or only from one to the next: std::ostream_iterator, std::back_inserter.
template <class Iterator, class = void> struct can_jump : std::false_type {
};
template <class Iterator>
struct can_jump<Iterator, decltype((void)(std::declval<Iterator>() + (ptrdiff_t)1))> : std::true_type {
};

// Any iterator of the host, and those that make their elements.
template <class Iterator, bool Jumps> class host_view
{
  public:
    host_view(Iterator first, size_t, access) : first_(first)
    {
    }
    decltype(auto) operator[](size_t i)
    {
        return *(first_ + (ptrdiff_t)i);
    }
    void put_back(size_t)
    {
    }

  private:
    Iterator first_;
};

// One that is written from the first element to the last: [] is the next one, whatever its number.
template <class Iterator> class host_view<Iterator, false>
{
  public:
    struct next {
        Iterator &iterator;
        template <class T> const next &operator=(const T &value) const
        {
            *iterator = value;
            ++iterator;
            return *this;
        }
    };
    host_view(Iterator first, size_t, access) : iterator_(first)
    {
    }
    next operator[](size_t)
    {
        return next{iterator_};
    }
    void put_back(size_t)
    {
    }

  private:
    Iterator iterator_;
};

// A view of n elements. All but WRITE bring them here; WRITE, CHANGE and KEEP put the first `count` back.
template <class Iterator> class view : public host_view<Iterator, can_jump<Iterator>::value>
{
  public:
    using host_view<Iterator, can_jump<Iterator>::value>::host_view;
};

template <class Iterator> inline Iterator behind_by(Iterator first, size_t n, std::true_type)
{
    return first + (ptrdiff_t)n;
}
template <class Iterator> inline Iterator behind_by(Iterator first, size_t n, std::false_type)
{
    while (n-- > 0)
        ++first;
    return first;
}
// The end of n elements that were written.
template <class Iterator> inline Iterator behind(Iterator first, size_t n)
{
    return behind_by(first, n, can_jump<Iterator>());
}

// Memory behind a pointer: of the device, or of what runs the algorithm (sim/algorithms.h).
template <class T> class memory_view
{
  public:
    typedef typename std::remove_const<T>::type value;

    memory_view(T *memory, size_t n, access how, bool device) : memory_(memory), device_(device)
    {
        if (sim_in_kernel())
            return;
        copy_.reset(new storage[n ? n : 1]);
        sim_library_on_device(device_);
        if (how != WRITE)
            bring_all(n * sizeof(value), how);
    }
    ~memory_view()
    {
        if (copy_)
            sim_library_on_device(-device_);
    }
    memory_view(const memory_view &) = delete;
    memory_view &operator=(const memory_view &) = delete;
    value &operator[](size_t i)
    {
        return copy_ ? *reinterpret_cast<value *>(&copy_[i]) : const_cast<value *>(memory_)[i];
    }
    void put_back(size_t count)
    {
        value *memory = const_cast<value *>(memory_);
        if (copy_ && device_)
            put(memory, copy_.get(), count * sizeof(value));
        else if (copy_)
            sim_library_to_host(memory, copy_.get(), count * sizeof(value));
    }

  private:
    struct storage {
        alignas(value) unsigned char bytes[sizeof(value)];
    };
    void bring_all(size_t bytes, access how)
    {
        if (!device_)
            sim_library_from_host(copy_.get(), memory_, bytes);
        else if (how == SOME && sim_library_runs())
            sim_library_read(copy_.get(), memory_, bytes, 1);
        else if (how != KEEP)
            bring(copy_.get(), memory_, bytes);
        else if (sim_library_runs() || cudaStreamSynchronize(sim_library_stream()) == cudaSuccess)
            sim_library_peek(copy_.get(), memory_, bytes);
    }
    T *memory_;
    std::unique_ptr<storage[]> copy_;
    bool device_;
};

template <class T> class view<T *> : public memory_view<T>
{
  public:
    view(T *first, size_t n, access how) : memory_view<T>(first, n, how, is_device(first, n * sizeof(T)))
    {
    }

  private:
    static bool is_device(const T *first, size_t bytes)
    {
        const bool device = sim_library_system() == SIM_SYSTEM_DEVICE;
        if (device && !sim_library_runs() && !sim_in_kernel())
            sim_library_device_memory(first, bytes);
        return device;
    }
};
template <class T> class view<device_ptr<T>> : public memory_view<T>
{
  public:
    view(device_ptr<T> first, size_t n, access how) : memory_view<T>(first.get(), n, how, true)
    {
    }
};

// Elements of the device that lie one behind the other; other iterators have none.
struct elements {
    const void *start;
    size_t size;
};
template <class Iterator> inline elements elements_of(const Iterator &)
{
    return elements{nullptr, 0};
}
template <class T> inline elements elements_of(T *first)
{
    return elements{sim_library_system() == SIM_SYSTEM_DEVICE ? first : nullptr, sizeof(T)};
}
template <class T> inline elements elements_of(const device_ptr<T> &first)
{
    return elements{first.get(), sizeof(T)};
}
// A result may share no element with what is read for it.
template <class Out, class In> inline void apart(const Out &out, size_t count, const In &in, size_t n)
{
    const elements to = elements_of(out), from = elements_of(in);
    if (to.start && from.start && n > 1 && !sim_in_kernel())
        sim_library_apart(to.start, count * to.size, from.start, n * from.size);
}
// It may, too, replace what is read, element for element.
template <class Out, class In> inline void apart_or_same(const Out &out, const In &in, size_t n)
{
    const elements to = elements_of(out), from = elements_of(in);
    if (to.start != from.start || to.size != from.size)
        apart(out, n, in, n);
}

template <> class view<discard_iterator>
{
  public:
    struct sink {
        template <class T> const sink &operator=(const T &) const
        {
            return *this;
        }
    };
    view(discard_iterator, size_t, access)
    {
    }
    sink operator[](size_t)
    {
        return sink();
    }
    void put_back(size_t)
    {
    }
};

template <class Function, class Base> class view<transform_iterator<Function, Base>>
{
  public:
    view(transform_iterator<Function, Base> first, size_t n, access)
        : base_(first.base + first.index, n, READ), function_(first.function)
    {
    }
    decltype(auto) operator[](size_t i)
    {
        return function_(base_[i]);
    }
    void put_back(size_t)
    {
    }

  private:
    view<Base> base_;
    Function function_;
};

template <class Elements, class Indices> class view<permutation_iterator<Elements, Indices>>
{
  public:
    view(permutation_iterator<Elements, Indices> first, size_t n, access how)
        : indices_(first.indices + first.index, n, READ), span_(span(n)), elements_(first.elements, span_,
                                                                                    how == READ    ? SOME
                                                                                    : how == WRITE ? KEEP
                                                                                                   : how)
    {
    }
    decltype(auto) operator[](size_t i)
    {
        return elements_[(size_t)indices_[i]];
    }
    void put_back(size_t)
    {
        elements_.put_back(span_);
    }

  private:
    size_t span(size_t n)
    {
        size_t most = 0;
        for (size_t i = 0; i < n; i++)
            most = std::max(most, (size_t)indices_[i] + 1);
        return most;
    }
    view<Indices> indices_;
    size_t span_;
    view<Elements> elements_;
};

template <class... Bases> class view<zip_iterator<std::tuple<Bases...>>>
{
  public:
    typedef std::index_sequence_for<Bases...> all;
    view(zip_iterator<std::tuple<Bases...>> first, size_t n, access how) : parts_(make(first, n, how, all()))
    {
    }
    // A tuple of references, so that a function can store through it.
    auto operator[](size_t i)
    {
        return at(i, all());
    }
    void put_back(size_t count)
    {
        put_back(count, all());
    }

  private:
    template <size_t... I>
    static auto make(zip_iterator<std::tuple<Bases...>> &first, size_t n, access how, std::index_sequence<I...>)
    {
        return std::make_tuple(std::make_unique<view<Bases>>(std::get<I>(first.bases) + first.index, n, how)...);
    }
    template <size_t... I> auto at(size_t i, std::index_sequence<I...>)
    {
        return std::tuple<decltype((*std::get<I>(parts_))[i])...>((*std::get<I>(parts_))[i]...);
    }
    template <size_t... I> void put_back(size_t count, std::index_sequence<I...>)
    {
        int each[] = {(std::get<I>(parts_)->put_back(count), 0)...};
        (void)each;
    }
    std::tuple<std::unique_ptr<view<Bases>>...> parts_;
};

template <class Iterator> using value_of = typename std::iterator_traits<Iterator>::value_type;
} // namespace sim_detail

using std::iterator_traits;
template <class Iterator> struct iterator_value {
    typedef typename std::iterator_traits<Iterator>::value_type type;
};
template <class Iterator> struct iterator_pointer {
    typedef typename std::iterator_traits<Iterator>::pointer type;
};
template <class Iterator> struct iterator_reference {
    typedef typename std::iterator_traits<Iterator>::reference type;
};
template <class Iterator> struct iterator_difference {
    typedef typename std::iterator_traits<Iterator>::difference_type type;
};
template <class Iterator> using iterator_value_t = typename iterator_value<Iterator>::type;
template <class Iterator> using iterator_pointer_t = typename iterator_pointer<Iterator>::type;
template <class Iterator> using iterator_reference_t = typename iterator_reference<Iterator>::type;
template <class Iterator> using iterator_difference_t = typename iterator_difference<Iterator>::type;
} // namespace thrust
