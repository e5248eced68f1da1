// The samples' helper_timer.h, written anew: stop watches of host time, in milliseconds.
#pragma once
#define COMMON_HELPER_TIMER_H_

#include <chrono>

#include <exception.h>

class StopWatchInterface
{
  public:
    StopWatchInterface() = default;
    virtual ~StopWatchInterface() = default;
    virtual void start() = 0;
    virtual void stop() = 0;
    virtual void reset() = 0;
    virtual float getTime() = 0;
    virtual float getAverageTime() = 0;
};

class StopWatchLinux : public StopWatchInterface
{
  public:
    void start() override
    {
        begin_ = clock::now();
        running_ = true;
    }

    void stop() override
    {
        total_ += since_start();
        sessions_++;
        running_ = false;
    }

    void reset() override
    {
        total_ = 0;
        sessions_ = 0;
        begin_ = clock::now();
    }

    float getTime() override
    {
        return total_ + (running_ ? since_start() : 0.0f);
    }

    float getAverageTime() override
    {
        return sessions_ > 0 ? total_ / sessions_ : 0.0f;
    }

  private:
    typedef std::chrono::steady_clock clock;

    float since_start() const
    {
        return std::chrono::duration<float, std::milli>(clock::now() - begin_).count();
    }

    clock::time_point begin_;
    float total_ = 0;
    int sessions_ = 0;
    bool running_ = false;
};

inline bool sdkCreateTimer(StopWatchInterface **timer)
{
    *timer = new StopWatchLinux();
    return true;
}

inline bool sdkDeleteTimer(StopWatchInterface **timer)
{
    if (timer) {
        delete *timer;
        *timer = NULL;
    }
    return true;
}

inline bool sdkStartTimer(StopWatchInterface **timer)
{
    if (timer)
        (*timer)->start();
    return true;
}

inline bool sdkStopTimer(StopWatchInterface **timer)
{
    if (timer)
        (*timer)->stop();
    return true;
}

inline bool sdkResetTimer(StopWatchInterface **timer)
{
    if (timer)
        (*timer)->reset();
    return true;
}

inline float sdkGetAverageTimerValue(StopWatchInterface **timer)
{
    return timer ? (*timer)->getAverageTime() : 0.0f;
}

inline float sdkGetTimerValue(StopWatchInterface **timer)
{
    return timer ? (*timer)->getTime() : 0.0f;
}
