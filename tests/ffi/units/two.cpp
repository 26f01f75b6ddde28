/* Another unit with both headers, in reverse order. */

#include <solon.hpp>
#include <solon.h>

int answer_in_cpp();

int answer_in_cpp() { return solon::value::from_json("[41]").look().item(0).as_int().value_or(0) == 41 ? 41 : 0; }
