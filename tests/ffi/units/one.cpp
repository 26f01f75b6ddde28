/* One of several translation units that include both headers. */

#include <solon.h>
#include <solon.hpp>

extern "C" int answer_in_c(void);
int answer_in_cpp();

int main() {
    solon::engine engine;
    engine.set_module("p.rego", "package p\nx := 40");
    bool is = engine.prepare("p/x").evaluate_json() == "40";
    return is && answer_in_cpp() + answer_in_c() == 42 ? 0 : 1;
}
