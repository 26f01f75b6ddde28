#include <solon.hpp>

#include <iostream>

int main() {
    solon::engine engine;
    engine.set_module("p.rego", "package p\nx := 1 + 1");
    std::cout << engine.prepare("p/x").evaluate_json().value_or("undefined") << "\n";
    return 0;
}
