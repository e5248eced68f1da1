// The samples' exception.h, written anew: an exception that carries the place it was thrown from.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>

template <class Standard> class Exception : public Standard
{
  public:
    explicit Exception(const std::string &what) : Standard(what)
    {
    }

    static void throw_it(const char *file, int line, const char *detail = "-")
    {
        std::ostringstream text;
        text << "Exception in file '" << file << "' in line " << line << "\nDetailed description: " << detail << "\n";
        throw Exception(text.str());
    }

    static void throw_it(const char *file, int line, const std::string &detail)
    {
        throw_it(file, line, detail.c_str());
    }
};

template <class E> inline void handleException(const E &exception)
{
    std::cerr << exception.what() << std::endl;
    std::exit(EXIT_FAILURE);
}

#define RUNTIME_EXCEPTION(message) Exception<std::runtime_error>::throw_it(__FILE__, __LINE__, message)
#define LOGIC_EXCEPTION(message)   Exception<std::logic_error>::throw_it(__FILE__, __LINE__, message)
#define RANGE_EXCEPTION(message)   Exception<std::range_error>::throw_it(__FILE__, __LINE__, message)
