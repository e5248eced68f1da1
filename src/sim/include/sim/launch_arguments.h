// The arguments of a launch on their way to the kernel: numbers that are to be null pointers, and objects that become
// their parameters by a conversion. Who launches with them: sim/launch.h.
#pragma once

#include <type_traits>
#include <utility>

#include "sim/abi.h"

namespace sim
{

// Instead of std::tuple: <tuple> would declare std::array and std::apply too, which a program with `using namespace
// std` may have as names of its own.
template <class... Types> struct type_list {
};
template <size_t At, class First, class... Rest> struct type_at : type_at<At - 1, Rest...> {
};
template <class First, class... Rest> struct type_at<0, First, Rest...> {
    typedef First type;
};

// NULL and 0 lose what they are when a template passes them on: this is the number again, or a null pointer.
template <class Number> struct number_or_null {
    Number number;
    constexpr operator Number() const
    {
        return number;
    }
    template <class Pointee> constexpr operator Pointee *() const
    {
        return nullptr;
    }
};

template <class Type>
SIM_INLINE typename std::enable_if<!std::is_integral<Type>::value, const Type &>::type as_literal(const Type &argument)
{
    return argument;
}
template <class Type>
SIM_INLINE typename std::enable_if<std::is_integral<Type>::value, number_or_null<Type>>::type
as_literal(const Type &argument)
{
    return {argument};
}

template <class Call, class... Arguments>
auto takes(int) -> decltype(std::declval<const Call &>()(std::declval<const Arguments &>()...), std::true_type());
template <class Call, class... Arguments> std::false_type takes(...);

// An argument of a class that becomes the parameter by a conversion, such as an owner of memory that gives its pointer:
// CUDA converts it at the launch and copies the pointer alone. Where the parameter's type is not known, the kernel
// converts the bytes of the object; no copy of it is made whose destructor would give the memory back.
template <class Type>
struct kept_as_bytes : std::integral_constant<bool, std::is_class<Type>::value &&
                                                        (!std::is_copy_constructible<Type>::value ||
                                                         std::is_convertible<Type &, const volatile void *>::value)> {
};
template <class... Types> struct any_as_bytes : std::false_type {
};
template <class First, class... Rest>
struct any_as_bytes<First, Rest...>
    : std::integral_constant<bool, kept_as_bytes<First>::value || any_as_bytes<Rest...>::value> {
};

template <class Type, bool AsBytes = kept_as_bytes<Type>::value> struct kept_argument {
    Type value;
    SIM_INLINE explicit kept_argument(const Type &argument) : value(argument)
    {
    }
    SIM_INLINE const Type &get() const
    {
        return value;
    }
    SIM_INLINE auto literal() const -> kept_argument<typename std::decay<decltype(as_literal(value))>::type>
    {
        return kept_argument<typename std::decay<decltype(as_literal(value))>::type>(as_literal(value));
    }
};
template <class Type> struct kept_argument<Type, true> {
    alignas(Type) mutable unsigned char bytes[sizeof(Type)];
    SIM_INLINE explicit kept_argument(const Type &argument)
    {
        __builtin_memcpy(bytes, static_cast<const void *>(&argument), sizeof(Type));
    }
    SIM_INLINE Type &get() const
    {
        return *reinterpret_cast<Type *>(bytes);
    }
    SIM_INLINE const kept_argument &literal() const
    {
        return *this;
    }
};
template <class Call, class... Kept>
auto takes_kept(int) -> decltype(std::declval<const Call &>()(std::declval<const Kept &>().get()...), std::true_type());
template <class Call, class... Kept> std::false_type takes_kept(...);

struct last_choice {
};
struct second_choice : last_choice {
};
struct first_choice : second_choice {
};

// The pointer that such an argument is: what `+` or `*` makes of it, if it converts to that and is not made of it.
// Plain bytes own nothing, and are more often a view that a kernel takes whole: those stay as they are.
template <class Type> auto pointer_in(first_choice) -> decltype(+std::declval<Type &>());
template <class Type> auto pointer_in(second_choice) -> decltype(&*std::declval<Type &>());
template <class Type> void pointer_in(last_choice);
template <class Type>
struct owns
    : std::integral_constant<bool, kept_as_bytes<Type>::value && !(std::is_trivially_copy_constructible<Type>::value &&
                                                                   std::is_trivially_destructible<Type>::value)> {
};
template <class Type, bool Owns = owns<Type>::value> struct pointer_of_owner {
    static constexpr bool is_known = false;
};
template <class Type> struct pointer_of_owner<Type, true> {
    typedef typename std::decay<decltype(pointer_in<Type>(first_choice()))>::type type;
    static constexpr bool is_known = std::is_pointer<type>::value && std::is_convertible<Type &, type>::value &&
                                     !std::is_convertible<type, Type>::value;
};

template <class Call, class... Arguments>
auto accepts(int) -> decltype(std::declval<const Call &>()(std::declval<Arguments &>()...), std::true_type());
template <class Call, class... Arguments> std::false_type accepts(...);
template <class Type> using literal_of = typename std::decay<decltype(as_literal(std::declval<const Type &>()))>::type;
template <class Call, class... Arguments>
struct accepts_values : std::integral_constant<bool, decltype(accepts<Call, Arguments...>(0))::value ||
                                                         decltype(accepts<Call, literal_of<Arguments>...>(0))::value> {
};

// A parameter that takes this takes anything: its type is deduced, and an owner that can be copied is passed whole.
// Others cannot have been meant so, and a declaration that may refuse other types is left alone.
struct like_no_other {
};
template <class Call, size_t At, bool IsAsked, class Sequence, class... Arguments> struct is_deduced : std::false_type {
};
template <class Call, size_t At, size_t... Each, class... Arguments>
struct is_deduced<Call, At, true, std::index_sequence<Each...>, Arguments...>
    : accepts_values<Call, typename std::conditional<At == Each, like_no_other, Arguments>::type...> {
};

// What the arguments become at the launch, where the name may stand for several functions.
template <class Type, bool AsPointer> struct chosen_form {
    typedef Type type;
};
template <class Type> struct chosen_form<Type, true> {
    typedef typename pointer_of_owner<Type>::type type;
};
template <class Call, class Sequence, class... Arguments> struct chosen_forms;
template <class Call, size_t... Each, class... Arguments>
struct chosen_forms<Call, std::index_sequence<Each...>, Arguments...> {
    template <size_t At, class Type, bool IsKnown = pointer_of_owner<Type>::is_known>
    using form =
        typename chosen_form<Type, IsKnown && !is_deduced<Call, At, IsKnown && std::is_copy_constructible<Type>::value,
                                                          std::index_sequence<Each...>, Arguments...>::value>::type;
    typedef type_list<form<Each, Arguments>...> types;
    typedef std::integral_constant<bool, !std::is_same<types, type_list<Arguments...>>::value &&
                                             accepts_values<Call, form<Each, Arguments>...>::value>
        differ;
};
template <class... Arguments> struct given_forms {
    typedef type_list<Arguments...> types;
    typedef std::false_type differ;
};

template <class Exact, class... Arguments>
auto is_exact(int)
    -> decltype((void)std::declval<const Exact &>()(static_cast<Arguments *>(nullptr)...), std::true_type());
template <class Exact, class... Arguments> std::false_type is_exact(...);

// Where the arguments have the parameters' very types nothing is asked of the kernel with other types: its declaration
// may refuse them.
template <class Call, class Exact, class... Arguments>
struct launch_forms : std::conditional<decltype(is_exact<Exact, typename std::decay<Arguments>::type...>(0))::value,
                                       given_forms<Arguments...>,
                                       chosen_forms<Call, std::index_sequence_for<Arguments...>, Arguments...>> {
};
template <class Argument>
using given_as = typename std::conditional<std::is_class<typename std::remove_reference<Argument>::type>::value,
                                           typename std::remove_reference<Argument>::type,
                                           typename std::decay<Argument>::type>::type;

// An argument of a class becomes the parameter at the launch, as in CUDA: what its conversion reads may be the host's.
// Others go on as they are, since a NULL that has been passed on converts no more.
template <class Parameter, class Argument>
struct converted_at_launch
    : std::integral_constant<bool, std::is_class<typename std::decay<Argument>::type>::value &&
                                       !std::is_reference<Parameter>::value &&
                                       !std::is_same<typename std::decay<Argument>::type, Parameter>::value &&
                                       std::is_convertible<Argument &&, Parameter>::value> {
};
template <class Parameter, class Argument>
SIM_INLINE typename std::enable_if<converted_at_launch<Parameter, Argument>::value, Parameter>::type
at_launch(Argument &&argument)
{
    return std::forward<Argument>(argument);
}
template <class Parameter, class Argument>
SIM_INLINE typename std::enable_if<!converted_at_launch<Parameter, Argument>::value, Argument &&>::type
at_launch(Argument &&argument)
{
    return std::forward<Argument>(argument);
}

} // namespace sim
