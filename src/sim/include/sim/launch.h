// What the rewriter makes of kernel<<<grid, block, shared, stream>>>(arguments):
//
//   SIM_LAUNCH_POINTER((kernel), (grid, block, shared, stream))(arguments)
//       the kernel's address gives its exact parameter types: NULL, braces and numbers convert as in any call
//   SIM_LAUNCH_CALL((kernel), (grid, block, shared, stream))(arguments)
//       for names that may be no single function: templates whose arguments are deduced, overloads, default arguments
//
// and of `(void *)kernel`, where a kernel's type would be lost: `sim::kernel_address->*kernel`.
// Arguments are copied into a closure at the launch, as CUDA copies them; scheduling is the runtime's (sim_launch).
#pragma once

#include <new>
#include <stdlib.h>
#include <type_traits>
#include <utility>

#include "sim/abi.h"
#include "sim/launch_arguments.h"
#include "sim/vector_types.h"

struct CUstream_st;

// The lambdas that call a kernel are part of closure::run, which is not watched. gcc 10 takes no attribute there, and
// inlines them by itself.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 11
#define SIM_PASS_ON
#else
#define SIM_PASS_ON __attribute__((always_inline))
#endif

#define SIM_TEXT_OF(...) #__VA_ARGS__
#define SIM_LAUNCH_POINTER(kernel, configuration)                                                                      \
    ::sim::launch_pointer(SIM_TEXT_OF kernel, ::sim::configure configuration, kernel)
// For a kernel whose declaration the rewriter has made an error of: one message is enough.
#define SIM_LAUNCH_REFUSED(kernel, configuration) ::sim::refused_launcher()
#define SIM_LAUNCH_CALL(kernel, configuration)                                                                         \
    ::sim::launch_call(                                                                                                \
        SIM_TEXT_OF kernel, ::sim::configure configuration,                                                            \
        [=](auto &...sim_arguments) SIM_PASS_ON -> decltype((void)(kernel(sim_arguments...))) {                        \
            static_assert(std::is_void<decltype(kernel(sim_arguments...))>::value,                                     \
                          "a __global__ function must return void");                                                   \
            kernel(sim_arguments...);                                                                                  \
        },                                                                                                             \
        [=](auto sim_tag) -> decltype(::sim::pointer_of(sim_tag, kernel)) {                                            \
            return ::sim::pointer_of(sim_tag, kernel);                                                                 \
        },                                                                                                             \
        [=](auto *...sim_types) -> decltype(static_cast<::sim::function_of<decltype(sim_types)...> *>(kernel)) {       \
            return static_cast<::sim::function_of<decltype(sim_types)...> *>(kernel);                                  \
        })

namespace sim
{

SIM_INLINE sim_dim size_of(const dim3 &size)
{
    sim_dim copy = {size.x, size.y, size.z};
    return copy;
}

// Not inlined, as the launch itself is not: a program with hundreds of launches would take the compiler minutes.
SIM_NOINLINE inline sim_config configure(dim3 grid, dim3 block, size_t shared = 0, CUstream_st *stream = nullptr)
{
    sim_config config = {size_of(grid), size_of(block), shared, stream, 0, 0};
    return config;
}

// Every file has its own: two files may have kernels whose parameters are different structures of one name, which is
// all that the linker would see.
namespace
{

template <class Body> struct closure {
    SIM_UNWATCHED __attribute__((SIM_ENDS_THREAD)) static void run(void *memory)
    {
        (*static_cast<const Body *>(memory))();
    }
    static void release(void *memory)
    {
        static_cast<Body *>(memory)->~Body();
        ::free(memory);
    }
};

// Where an argument points that is a pointer to data, or a class made of nothing but pointers and integers, whose bytes
// are all its own: padding between others may hold anything.
template <class Type>
struct is_data_pointer
    : std::integral_constant<bool, std::is_pointer<Type>::value &&
                                       !std::is_function<typename std::remove_pointer<Type>::type>::value> {
};
template <class Type, bool IsPointer = is_data_pointer<Type>::value,
          bool IsClass = std::is_class<Type>::value && (__has_unique_object_representations(Type))>
struct argument_memory {
    SIM_INLINE static int own(const Type &)
    {
        return SIM_OWN_NONE;
    }
};
template <class Type> struct argument_memory<Type, true, false> {
    SIM_INLINE static int own(const Type &argument)
    {
        return sim_own_memory(argument);
    }
};
template <class Type> struct argument_memory<Type, false, true> {
    SIM_UNWATCHED static int own(const Type &argument)
    {
        int found = SIM_OWN_NONE;
        for (size_t at = 0; at + sizeof(void *) <= sizeof(Type) && found == SIM_OWN_NONE; at += sizeof(void *)) {
            const void *word;
            __builtin_memcpy(&word, reinterpret_cast<const char *>(&argument) + at, sizeof word);
            found = sim_own_memory(word);
        }
        return found;
    }
};
SIM_INLINE int own_memory()
{
    return SIM_OWN_NONE;
}
template <class First, class... Rest> SIM_INLINE int own_memory(const First &first, const Rest &...rest)
{
    const int found = argument_memory<First>::own(first);
    return found != SIM_OWN_NONE ? found : own_memory(rest...);
}

// A kernel with its arguments bound; `body` calls it for one thread.
template <class Body> SIM_INLINE sim_kernel kernel_of(const char *name, const void *function, int own, const Body &body)
{
    constexpr size_t alignment = alignof(Body) < sizeof(void *) ? sizeof(void *) : alignof(Body);
    void *memory = nullptr;
    sim_kernel kernel = {name, function, nullptr, nullptr, 0, nullptr, own, 0}; // nothing to run: no memory for it
    if (posix_memalign(&memory, alignment, sizeof(Body)) != 0)
        return kernel;
    void *paused = sim_launch_pause();
    new (memory) Body(body);
    sim_launch_resume(paused);
    kernel = {name, function, closure<Body>::run, memory, sizeof(Body), closure<Body>::release, own};
    return kernel;
}

template <class... Types> struct no_references : std::true_type {
};
template <class First, class... Rest>
struct no_references<First, Rest...>
    : std::integral_constant<bool, !std::is_reference<First>::value && no_references<Rest...>::value> {
};

// An argument on its way to the kernel. Where its class has a destructor or a copy constructor of its own, CUDA calls
// them on the host alone, around the launch; the kernel gets the bytes. Such parameters are passed by address on every
// machine that this runs on, so each thread is given the address of its own copy of the bytes.
template <class Type>
struct passed_by_address : std::integral_constant<bool, !(std::is_trivially_copy_constructible<Type>::value &&
                                                          std::is_trivially_move_constructible<Type>::value &&
                                                          std::is_trivially_destructible<Type>::value)> {
};
template <class... Types> struct any_by_address : std::false_type {
};
template <class First, class... Rest>
struct any_by_address<First, Rest...>
    : std::integral_constant<bool, passed_by_address<First>::value || any_by_address<Rest...>::value> {
};

template <class Type, bool ByAddress = passed_by_address<Type>::value> struct carried {
    typedef Type parameter;
    Type value;
    SIM_INLINE explicit carried(const Type &argument) : value(argument)
    {
    }
    SIM_INLINE Type pass()
    {
        return value;
    }
};
template <class Type> struct carried<Type, true> {
    typedef void *parameter;
    alignas(Type) unsigned char bytes[sizeof(Type)];
    SIM_INLINE explicit carried(const Type &argument)
    {
        __builtin_memcpy(bytes, static_cast<const void *>(&argument), sizeof(Type));
    }
    SIM_INLINE void *pass()
    {
        return bytes;
    }
};

template <class... Parameters> SIM_INLINE void call_carried(void (*kernel)(Parameters...), carried<Parameters>... own)
{
    auto function = reinterpret_cast<void (*)(typename carried<Parameters>::parameter...)>(kernel);
    function(own.pass()...);
}

template <class... Parameters>
SIM_INLINE sim_kernel bind_values(std::false_type, const char *name, void (*kernel)(Parameters...),
                                  const Parameters &...arguments)
{
    return kernel_of(name, reinterpret_cast<const void *>(kernel), own_memory(arguments...),
                     [kernel, arguments...]() SIM_PASS_ON { kernel(arguments...); });
}
template <class... Parameters>
SIM_INLINE sim_kernel bind_carried(const char *name, void (*kernel)(Parameters...), carried<Parameters>... arguments)
{
    return kernel_of(name, reinterpret_cast<const void *>(kernel), SIM_OWN_NONE,
                     [kernel, arguments...]() SIM_PASS_ON { call_carried<Parameters...>(kernel, arguments...); });
}
template <class... Parameters>
SIM_INLINE sim_kernel bind_values(std::true_type, const char *name, void (*kernel)(Parameters...),
                                  const Parameters &...arguments)
{
    return bind_carried<Parameters...>(name, kernel, carried<Parameters>(arguments)...);
}

template <class... Parameters> struct pointer_launcher {
    const char *name;
    sim_config config;
    void (*kernel)(Parameters...);

    SIM_NOINLINE void operator()(Parameters... arguments) const
    {
        static_assert(no_references<Parameters...>::value,
                      "a kernel's parameter is a reference: it would refer to memory of the host; pass it by value");
        sim_kernel bound = bind_values<Parameters...>(any_by_address<Parameters...>(), name, kernel, arguments...);
        sim_launch(&config, &bound, __builtin_return_address(0));
    }
};

template <class... Parameters>
SIM_INLINE pointer_launcher<Parameters...> launch_pointer(const char *name, const sim_config &config,
                                                          void (*kernel)(Parameters...))
{
    return {name, config, kernel};
}

// Of a kernel that returns something.
struct refused_launcher {
    template <class... Arguments> SIM_INLINE void operator()(const Arguments &...) const
    {
    }
};
template <class Result, class... Parameters>
SIM_INLINE refused_launcher launch_pointer(const char *, const sim_config &, Result (*)(Parameters...))
{
    static_assert(std::is_void<Result>::value, "a __global__ function must return void");
    return {};
}

template <class... Pointers> using function_of = void(typename std::remove_pointer<Pointers>::type...);

// The kernel's address, by which its attributes are known: when the name stands for one function, or when the
// arguments' types are exactly its parameters'; else null. A function without parameters is of the second kind: a
// template whose parameters are one pack, all of them deduced, would pass for one as well.
template <class First, class... Rest>
SIM_INLINE auto pointer_of(int, void (*kernel)(First, Rest...)) -> void (*)(First, Rest...)
{
    return kernel;
}

template <class Only, class Exact, class... Arguments>
SIM_INLINE auto address_of(first_choice, const Only &only, const Exact &)
    -> decltype(reinterpret_cast<const void *>(only(0)))
{
    return reinterpret_cast<const void *>(only(0));
}
template <class Only, class Exact, class... Arguments>
SIM_INLINE auto address_of(second_choice, const Only &, const Exact &exact)
    -> decltype(reinterpret_cast<const void *>(exact(static_cast<Arguments *>(nullptr)...)))
{
    return reinterpret_cast<const void *>(exact(static_cast<Arguments *>(nullptr)...));
}
template <class Only, class Exact, class... Arguments>
SIM_INLINE const void *address_of(last_choice, const Only &, const Exact &)
{
    return nullptr;
}

template <class Call, class Only, class Exact> struct call_launcher {
    const char *name;
    sim_config config;
    Call call;
    Only only;
    Exact exact;

    template <class... Arguments> SIM_INLINE void submit(const void *function, const Arguments &...arguments) const
    {
        auto callee = call;
        sim_kernel bound = kernel_of(name, function, own_memory(arguments...),
                                     [callee, arguments...]() SIM_PASS_ON { callee(arguments...); });
        sim_launch(&config, &bound, nullptr);
    }
    template <class... Arguments>
    SIM_INLINE void choose(std::true_type, const void *function, const Arguments &...arguments) const
    {
        submit(function, arguments...);
    }
    template <class... Arguments>
    SIM_INLINE void choose(std::false_type, const void *function, const Arguments &...arguments) const
    {
        submit(function, as_literal(arguments)...);
    }
    template <class... Arguments>
    SIM_INLINE void pass(last_choice, std::false_type, const Arguments &...arguments) const
    {
        choose(decltype(takes<Call, Arguments...>(0))(),
               address_of<Only, Exact, Arguments...>(first_choice(), only, exact), arguments...);
    }
    template <class... Arguments>
    SIM_INLINE auto pass(first_choice, std::true_type by_address, const Arguments &...arguments) const
        -> decltype((void)exact(static_cast<Arguments *>(nullptr)...))
    {
        sim_kernel bound =
            bind_values<Arguments...>(by_address, name, exact(static_cast<Arguments *>(nullptr)...), arguments...);
        sim_launch(&config, &bound, nullptr);
    }
    template <class... Arguments> SIM_INLINE void pass(last_choice, std::true_type, const Arguments &...arguments) const
    {
        pass(last_choice(), std::false_type(), arguments...);
    }
    template <class... Kept>
    SIM_INLINE void submit_kept(std::true_type, const void *function, const Kept &...kept) const
    {
        auto callee = call;
        sim_kernel bound =
            kernel_of(name, function, SIM_OWN_NONE, [callee, kept...]() SIM_PASS_ON { callee(kept.get()...); });
        sim_launch(&config, &bound, nullptr);
    }
    template <class... Kept>
    SIM_INLINE void submit_kept(std::false_type, const void *function, const Kept &...kept) const
    {
        submit_kept(std::true_type(), function, kept.literal()...);
    }
    template <class... Arguments>
    SIM_INLINE typename std::enable_if<!any_as_bytes<Arguments...>::value>::type
    operator()(Arguments... arguments) const
    {
        pass(first_choice(), any_by_address<Arguments...>(), arguments...);
    }
    template <class... Types, class... Arguments>
    SIM_INLINE void convert(std::true_type, const type_list<Types...> *, Arguments &&...arguments) const
    {
        (*this)(at_launch<Types>(arguments)...);
    }
    template <class Types, class... Arguments>
    SIM_INLINE void convert(std::false_type, const Types *, Arguments &&...arguments) const
    {
        submit_kept(decltype(takes_kept<Call, kept_argument<typename std::decay<Arguments>::type>...>(0))(),
                    address_of<Only, Exact, typename std::decay<Arguments>::type...>(first_choice(), only, exact),
                    kept_argument<typename std::decay<Arguments>::type>(arguments)...);
    }
    template <class... Arguments>
    SIM_INLINE typename std::enable_if<any_as_bytes<typename std::decay<Arguments>::type...>::value>::type
    operator()(Arguments &&...arguments) const
    {
        typedef typename launch_forms<Call, Exact, given_as<Arguments>...>::type forms;
        convert(typename forms::differ(), static_cast<const typename forms::types *>(nullptr),
                std::forward<Arguments>(arguments)...);
    }
};

// The name stands for one function: its parameters' types are known. With fewer arguments than it has parameters the
// others have defaults, which only a call knows.
template <class Launcher, class... Parameters> struct single_launcher : pointer_launcher<Parameters...> {
    Launcher launcher;

    SIM_INLINE single_launcher(const Launcher &launcher_, void (*kernel_)(Parameters...))
        : pointer_launcher<Parameters...>{launcher_.name, launcher_.config, kernel_}, launcher(launcher_)
    {
    }
    using pointer_launcher<Parameters...>::operator();
    template <class... Arguments>
    SIM_INLINE typename std::enable_if<(sizeof...(Arguments) < sizeof...(Parameters))>::type
    operator()(Arguments &&...arguments) const
    {
        pass_on(std::index_sequence_for<Arguments...>(), std::forward<Arguments>(arguments)...);
    }

  private:
    template <size_t... At, class... Arguments>
    SIM_INLINE void pass_on(std::index_sequence<At...>, Arguments &&...arguments) const
    {
        launcher(at_launch<typename type_at<At, Parameters...>::type>(std::forward<Arguments>(arguments))...);
    }
};

template <class Launcher, class... Parameters>
SIM_INLINE single_launcher<Launcher, Parameters...> launch_single(const Launcher &launcher,
                                                                  void (*kernel)(Parameters...))
{
    return {launcher, kernel};
}
template <class Launcher>
SIM_INLINE auto launcher_of(first_choice, const Launcher &launcher)
    -> decltype(launch_single(launcher, launcher.only(0)))
{
    return launch_single(launcher, launcher.only(0));
}
template <class Launcher> SIM_INLINE Launcher launcher_of(last_choice, const Launcher &launcher)
{
    return launcher;
}

template <class Call, class Only, class Exact>
SIM_INLINE auto launch_call(const char *name, const sim_config &config, Call call, Only only, Exact exact)
    -> decltype(launcher_of(first_choice(), std::declval<call_launcher<Call, Only, Exact>>()))
{
    return launcher_of(first_choice(), call_launcher<Call, Only, Exact>{name, config, call, only, exact});
}

// --- kernels launched by address: cudaLaunchKernel, graph nodes -----------------------------------------------------

template <class... Parameters, size_t... At>
SIM_INLINE sim_kernel bind_at(void (*kernel)(Parameters...), void **arguments, const char *name,
                              std::index_sequence<At...>)
{
    (void)arguments;
    return bind_values<Parameters...>(
        any_by_address<Parameters...>(), name, kernel,
        *static_cast<typename std::remove_reference<Parameters>::type *>(arguments[At])...);
}

// The kernel with the arguments that `arguments` points to, copied. A null name: known by its address alone.
template <class... Parameters>
SIM_INLINE sim_kernel bind(void (*kernel)(Parameters...), void **arguments, const char *name = nullptr)
{
    return bind_at(kernel, arguments, name, std::index_sequence_for<Parameters...>());
}

template <class... Parameters> SIM_UNWATCHED sim_kernel bind_lost(const void *function, void **arguments)
{
    return bind(reinterpret_cast<void (*)(Parameters...)>(const_cast<void *>(function)), arguments);
}

} // namespace

// Kernels whose type was lost on the way to the runtime API: how to bind their arguments, by address.
struct binder {
    const void *function;
    sim_kernel (*bind)(const void *function, void **arguments);
    const binder *next;
};

template <class Unused> struct binders {
    static const binder *first;
};
template <class Unused> const binder *binders<Unused>::first;

SIM_UNWATCHED inline const binder *binder_of(const void *function)
{
    const binder *found = __atomic_load_n(&binders<void>::first, __ATOMIC_ACQUIRE);
    while (found != nullptr && found->function != function)
        found = found->next;
    return found;
}

SIM_UNWATCHED inline void remember(const void *function, sim_kernel (*bind)(const void *, void **))
{
    if (binder_of(function) != nullptr)
        return;
    binder *entry = static_cast<binder *>(malloc(sizeof(binder)));
    if (entry == nullptr)
        return; // a launch by this address fails
    entry->function = function;
    entry->bind = bind;
    entry->next = __atomic_load_n(&binders<void>::first, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&binders<void>::first, &entry->next, entry, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
        continue;
}

// False: no kernel at this address was ever converted to void * in the program's text.
SIM_UNWATCHED inline bool bind_address(const void *function, void **arguments, sim_kernel *kernel)
{
    const binder *found = binder_of(function);
    if (found != nullptr)
        *kernel = found->bind(function, arguments);
    return found != nullptr;
}

namespace
{

struct kernel_address_type {
    template <class... Parameters> void *operator->*(void (*kernel)(Parameters...)) const
    {
        void *address = reinterpret_cast<void *>(kernel);
        remember(address, bind_lost<Parameters...>);
        return address;
    }
};
constexpr kernel_address_type kernel_address = {};

} // namespace

} // namespace sim
