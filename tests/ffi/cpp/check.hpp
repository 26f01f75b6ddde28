/* Helpers of all programs. */

#ifndef CHECK_HPP
#define CHECK_HPP

#include <solon.hpp>

#include <cstdio>
#include <cstdlib>

/* Ends the program if `condition` is false. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                     \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

/* True if an expression throws `Exception`. */
#define THROWS(Exception, expression)                                                                        \
    [&] {                                                                                                    \
        try {                                                                                                \
            (void)(expression);                                                                              \
        } catch (const Exception &) {                                                                        \
            return true;                                                                                     \
        }                                                                                                    \
        return false;                                                                                        \
    }()

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

#endif
