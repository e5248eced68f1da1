// Thrust on the simulated GPU: pointers to device memory and references through them. Every element read or written by
// host code is a copy through the runtime API, as in Thrust itself.
#pragma once

#include <cstddef>
#include <iterator>
#include <new>
#include <stdexcept>
#include <system_error>
#include <type_traits>

#include <cuda_runtime.h>
#include <sim/algorithms.h>

namespace thrust
{
class system_error : public std::runtime_error
{
  public:
    explicit system_error(cudaError_t error) : std::runtime_error(cudaGetErrorString(error)), error_(error)
    {
    }
    cudaError_t sim_error() const
    {
        return error_;
    }

  private:
    cudaError_t error_;
};

namespace sim_detail
{
inline void check(cudaError_t error)
{
    if (error != cudaSuccess)
        throw system_error(error);
}

// The stream that this thread's algorithms work in, for as long as the object lives.
class in_stream
{
  public:
    explicit in_stream(cudaStream_t stream) : before_(sim_library_stream())
    {
        sim_library_stream_set(stream);
    }
    ~in_stream()
    {
        sim_library_stream_set(before_);
    }
    in_stream(const in_stream &) = delete;
    in_stream &operator=(const in_stream &) = delete;

  private:
    cudaStream_t before_;
};

// Whose memory plain pointers are, for as long as the object lives.
class in_system
{
  public:
    explicit in_system(int system) : before_(sim_library_system())
    {
        sim_library_system_set(system);
    }
    ~in_system()
    {
        sim_library_system_set(before_);
    }
    in_system(const in_system &) = delete;
    in_system &operator=(const in_system &) = delete;

  private:
    int before_;
};

inline cudaError_t transfer_in(cudaStream_t stream, void *to, const void *from, size_t bytes)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

// Bytes between host and any memory. In a kernel all memory is at hand.
inline void transfer(void *to, const void *from, size_t bytes)
{
    if (bytes == 0)
        return;
    if (sim_in_kernel())
        __builtin_memmove(to, from, bytes);
    else if (sim_library_stream())
        check(transfer_in(sim_library_stream(), to, from, bytes));
    else
        check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}

// Elements of the device brought here, and put back.
inline void bring(void *here, const void *device, size_t bytes)
{
    if (sim_library_runs())
        sim_library_read(here, device, bytes, 0);
    else
        transfer(here, device, bytes);
}
inline void put(void *device, const void *here, size_t bytes)
{
    if (sim_library_runs())
        sim_library_write(device, here, bytes);
    else
        transfer(device, here, bytes);
}
} // namespace sim_detail

template <class T> class device_ptr;

template <class T> class device_reference
{
  public:
    typedef typename std::remove_const<T>::type value_type;

    explicit device_reference(T *address) : address_(address)
    {
    }
    operator value_type() const
    {
        value_type value;
        sim_detail::bring(&value, address_, sizeof value);
        return value;
    }
    device_reference &operator=(const value_type &value)
    {
        sim_detail::put(const_cast<value_type *>(address_), &value, sizeof value);
        return *this;
    }
    device_reference &operator=(const device_reference &other)
    {
        return *this = (value_type)other;
    }
    device_reference(const device_reference &) = default;
    device_ptr<T> operator&() const
    {
        return device_ptr<T>(address_);
    }

#define SIM_THRUST_UPDATE(op)                                                                                          \
    device_reference &operator op##=(const value_type &value)                                                          \
    {                                                                                                                  \
        return *this = (value_type)((value_type) * this op value);                                                     \
    }
    SIM_THRUST_UPDATE(+)
    SIM_THRUST_UPDATE(-)
    SIM_THRUST_UPDATE(*)
    SIM_THRUST_UPDATE(/)
#undef SIM_THRUST_UPDATE
    device_reference &operator++()
    {
        return *this += 1;
    }

  private:
    T *address_;
};

template <class T> class device_ptr
{
  public:
    typedef std::random_access_iterator_tag iterator_category;
    typedef typename std::remove_const<T>::type value_type;
    typedef ptrdiff_t difference_type;
    typedef device_ptr pointer;
    typedef device_reference<T> reference;

    device_ptr() : address_(nullptr)
    {
    }
    device_ptr(std::nullptr_t) : address_(nullptr)
    {
    }
    explicit device_ptr(T *address) : address_(address)
    {
    }
    template <class U, class = typename std::enable_if<std::is_convertible<U *, T *>::value>::type>
    device_ptr(const device_ptr<U> &other) : address_(other.get())
    {
    }
    T *get() const
    {
        return address_;
    }
    reference operator*() const
    {
        return reference(address_);
    }
    reference operator[](difference_type i) const
    {
        return reference(address_ + i);
    }
    device_ptr &operator++()
    {
        ++address_;
        return *this;
    }
    device_ptr operator++(int)
    {
        return device_ptr(address_++);
    }
    device_ptr &operator--()
    {
        --address_;
        return *this;
    }
    device_ptr &operator+=(difference_type n)
    {
        address_ += n;
        return *this;
    }
    device_ptr &operator-=(difference_type n)
    {
        address_ -= n;
        return *this;
    }
    device_ptr operator+(difference_type n) const
    {
        return device_ptr(address_ + n);
    }
    device_ptr operator-(difference_type n) const
    {
        return device_ptr(address_ - n);
    }
    difference_type operator-(const device_ptr &other) const
    {
        return address_ - other.address_;
    }
    bool operator==(const device_ptr &other) const
    {
        return address_ == other.address_;
    }
    bool operator!=(const device_ptr &other) const
    {
        return address_ != other.address_;
    }
    bool operator<(const device_ptr &other) const
    {
        return address_ < other.address_;
    }
    explicit operator bool() const
    {
        return address_ != nullptr;
    }

  private:
    T *address_;
};

template <class T> inline device_ptr<T> device_pointer_cast(T *pointer)
{
    return device_ptr<T>(pointer);
}
template <class T> inline device_ptr<T> device_pointer_cast(const device_ptr<T> &pointer)
{
    return pointer;
}
template <class T> inline T *raw_pointer_cast(const device_ptr<T> &pointer)
{
    return pointer.get();
}
template <class T> inline T *raw_pointer_cast(T *pointer)
{
    return pointer;
}

template <class T> inline device_ptr<T> device_malloc(size_t count)
{
    T *memory = nullptr;
    sim_detail::check(cudaMalloc(&memory, count * sizeof(T)));
    return device_ptr<T>(memory);
}
inline device_ptr<void> device_malloc(size_t bytes)
{
    void *memory = nullptr;
    sim_detail::check(cudaMalloc(&memory, bytes));
    return device_ptr<void>(memory);
}
template <class T> inline void device_free(device_ptr<T> pointer)
{
    sim_detail::check(cudaFree(pointer.get()));
}
} // namespace thrust
