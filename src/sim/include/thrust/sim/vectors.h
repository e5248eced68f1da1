// thrust::host_vector and thrust::device_vector.
#pragma once

#include <initializer_list>
#include <vector>

#include <thrust/sim/iterators.h>

namespace thrust
{
template <class T, class Allocator> class device_vector;

template <class T, class Allocator = std::allocator<T>> class host_vector : public std::vector<T, Allocator>
{
  public:
    using std::vector<T, Allocator>::vector;
    host_vector() = default;
    template <class A> host_vector(const device_vector<T, A> &other)
    {
        *this = other;
    }
    host_vector(const std::vector<T, Allocator> &other) : std::vector<T, Allocator>(other)
    {
    }
    template <class A> host_vector &operator=(const device_vector<T, A> &other)
    {
        this->resize(other.size());
        sim_detail::transfer(this->data(), other.data().get(), other.size() * sizeof(T));
        return *this;
    }
};

template <class T> struct device_allocator {
};

template <class T, class Allocator = device_allocator<T>> class device_vector
{
  public:
    typedef T value_type;
    typedef device_ptr<T> iterator;
    typedef device_ptr<const T> const_iterator;
    typedef device_ptr<T> pointer;
    typedef device_reference<T> reference;
    typedef size_t size_type;
    typedef ptrdiff_t difference_type;

    device_vector() = default;
    explicit device_vector(size_t n) : device_vector(n, T())
    {
    }
    device_vector(size_t n, const T &value)
    {
        resize(n, value);
    }
    device_vector(std::initializer_list<T> values)
    {
        assign(values.begin(), values.end());
    }
    template <class Iterator, class = typename std::iterator_traits<Iterator>::iterator_category>
    device_vector(Iterator first, Iterator last)
    {
        assign(first, last);
    }
    device_vector(const device_vector &other)
    {
        *this = other;
    }
    device_vector(device_vector &&other)
    {
        swap(other);
    }
    template <class A> device_vector(const std::vector<T, A> &other)
    {
        *this = other;
    }
    ~device_vector()
    {
        cudaFree(memory_);
    }
    device_vector &operator=(const device_vector &other)
    {
        if (this != &other) {
            take(other.size_);
            sim_detail::transfer(memory_, other.memory_, size_ * sizeof(T));
        }
        return *this;
    }
    device_vector &operator=(device_vector &&other)
    {
        swap(other);
        return *this;
    }
    template <class A> device_vector &operator=(const std::vector<T, A> &other)
    {
        take(other.size());
        sim_detail::transfer(memory_, other.data(), size_ * sizeof(T));
        return *this;
    }
    template <class Iterator> void assign(Iterator first, Iterator last)
    {
        assign(first, last, sim_detail::can_jump<Iterator>());
    }
    void resize(size_t n, const T &value = T())
    {
        size_t old = size_;
        reserve(n);
        size_ = n;
        if (n > old) {
            std::vector<T> more(n - old, value);
            sim_detail::transfer(memory_ + old, more.data(), more.size() * sizeof(T));
        }
    }
    void reserve(size_t n)
    {
        if (n <= room_)
            return;
        T *larger = nullptr;
        sim_detail::check(cudaMalloc(&larger, n * sizeof(T)));
        sim_detail::transfer(larger, memory_, size_ * sizeof(T));
        cudaFree(memory_);
        memory_ = larger;
        room_ = n;
    }
    void push_back(const T &value)
    {
        if (size_ == room_)
            reserve(room_ ? 2 * room_ : 8);
        sim_detail::transfer(memory_ + size_++, &value, sizeof(T));
    }
    void pop_back()
    {
        size_--;
    }
    iterator erase(iterator first, iterator last)
    {
        size_t at = (size_t)(first - begin()), gone = (size_t)(last - first);
        std::vector<T> tail(size_ - at - gone);
        sim_detail::transfer(tail.data(), memory_ + at + gone, tail.size() * sizeof(T));
        sim_detail::transfer(memory_ + at, tail.data(), tail.size() * sizeof(T));
        size_ -= gone;
        return begin() + (ptrdiff_t)at;
    }
    void clear()
    {
        size_ = 0;
    }
    void shrink_to_fit()
    {
    }
    void swap(device_vector &other)
    {
        std::swap(memory_, other.memory_);
        std::swap(size_, other.size_);
        std::swap(room_, other.room_);
    }
    size_t size() const
    {
        return size_;
    }
    size_t capacity() const
    {
        return room_;
    }
    bool empty() const
    {
        return size_ == 0;
    }
    iterator begin()
    {
        return iterator(memory_);
    }
    iterator end()
    {
        return iterator(memory_ + size_);
    }
    const_iterator begin() const
    {
        return const_iterator(memory_);
    }
    const_iterator end() const
    {
        return const_iterator(memory_ + size_);
    }
    const_iterator cbegin() const
    {
        return begin();
    }
    const_iterator cend() const
    {
        return end();
    }
    pointer data()
    {
        return pointer(memory_);
    }
    device_ptr<const T> data() const
    {
        return device_ptr<const T>(memory_);
    }
    reference operator[](size_t i)
    {
        return reference(memory_ + i);
    }
    T operator[](size_t i) const
    {
        return device_reference<const T>(memory_ + i);
    }
    reference front()
    {
        return (*this)[0];
    }
    reference back()
    {
        return (*this)[size_ - 1];
    }

  private:
    template <class Iterator> void assign(Iterator first, Iterator last, std::true_type)
    {
        take((size_t)(last - first));
        sim_detail::view<Iterator> from(first, size_, sim_detail::READ);
        sim_detail::view<iterator> to(begin(), size_, sim_detail::WRITE);
        for (size_t k = 0; k < size_; k++)
            to[k] = from[k];
        to.put_back(size_);
    }
    template <class Iterator> void assign(Iterator first, Iterator last, std::false_type) // of a list, of a file
    {
        *this = std::vector<T>(first, last);
    }
    // Room for n elements whose old contents do not matter.
    void take(size_t n)
    {
        if (n > room_) {
            cudaFree(memory_);
            memory_ = nullptr;
            room_ = 0;
            sim_detail::check(cudaMalloc(&memory_, n * sizeof(T)));
            room_ = n;
        }
        size_ = n;
    }

    T *memory_ = nullptr;
    size_t size_ = 0, room_ = 0;
};

template <class T, class A, class B> inline bool operator==(const device_vector<T, A> &a, const std::vector<T, B> &b)
{
    return host_vector<T>(a) == b;
}
template <class T, class A, class B> inline bool operator==(const std::vector<T, A> &a, const device_vector<T, B> &b)
{
    return host_vector<T>(b) == a;
}
template <class T, class A> inline bool operator==(const device_vector<T, A> &a, const device_vector<T, A> &b)
{
    return host_vector<T>(a) == host_vector<T>(b);
}
} // namespace thrust
