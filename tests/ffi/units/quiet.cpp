/* Compiled without exceptions: errors are results. */

#include <solon.hpp>

int main() {
    auto engine = solon::engine::make();
    if (!engine) {
        return 1;
    }
    auto refused = engine->try_set_module("p.rego", "package p\nx := y");
    if (refused || refused.error().code() != SOLON_ERROR_COMPILE || refused.error().entries().size() != 1) {
        return 2;
    }
    if (!engine->try_set_module("p.rego", "package p\nallow if input.user == \"alice\"")) {
        return 3;
    }
    auto document = engine->try_prepare("p/allow");
    if (!document) {
        return 4;
    }
    auto allowed = document->try_allow(R"({"user": "alice"})");
    auto broken = document->try_allow("{");
    return allowed && *allowed && !broken && broken.error().code() == SOLON_ERROR_INPUT ? 0 : 5;
}
