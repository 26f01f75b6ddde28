/* Values and views of them. */

#include "check.hpp"

#include <limits>
#include <string>

using solon::value;
using solon::view;

int main() {
    value object = value::object({{"name", "alice"}, {"age", 7}, {"tags", value::array({value("a"), value("b")})}, {1, nullptr}});
    CHECK(object.json() == R"({"1":null,"age":7,"name":"alice","tags":["a","b"]})");
    CHECK(object["name"].as_text() == "alice");
    CHECK(object["age"].as_int() == 7 && object["age"].as_double() == 7.0 && !object["age"].as_text());
    CHECK(!object["none"].is_defined() && object["none"].kind() == SOLON_KIND_UNDEFINED);
    CHECK(object.look().find(value(1)).is_null());

    std::string tags;
    for (view tag : object["tags"]) {
        tags += *tag.as_text();
    }
    CHECK(tags == "ab");
    std::string keys;
    for (auto [key, item] : object.look().pairs()) {
        keys += key.json() + item.json();
    }
    CHECK(keys == R"(1null"age"7"name""alice""tags"["a","b"])");
    for (view none : object["name"]) {
        CHECK(!none.is_defined());
    }
    for (auto [key, item] : view().pairs()) {
        CHECK(!key.is_defined() && !item.is_defined());
    }

    value set = value::set({value(2), value(1), value(2.0)});
    CHECK(set.look().size() == 2 && set.json() == "[1,2]");
    CHECK(set.look().find(value(2)).is_defined() && !set.look().find(value(3)).is_defined());
    CHECK(value::number("1e400").json() == "1e400");
    const std::string two = "ab";
    CHECK(value(two.size()) == value(2) && value(3u) == value(3) && value(3LL) == value(3) && value(3ULL) == value(3));
    CHECK(value(short{-3}) == value(-3) && value(static_cast<unsigned char>(200)) == value(200) && value(1.5f) == value(1.5));
    CHECK(value(std::numeric_limits<std::int64_t>::min()).json() == "-9223372036854775808");
    CHECK(value(std::numeric_limits<std::uint64_t>::max()).json() == "18446744073709551615");
    enum { SEVEN = 7 };
    char mutable_text[] = "x";
    CHECK(value(SEVEN) == value(7) && value(mutable_text) == value("x") && value(nullptr) == value());
    CHECK(value(true).look().as_bool() == true && !value(1).look().as_bool());
    CHECK(value(std::string("x")) == value("x") && value("x") != value("y") && view(value(1)) < view(value("a")));
    CHECK(value::from_yaml("a: [1]") == value::from_json(R"({"a": [1]})"));

    /* a clone of a nested value outlives its container; handles move */
    value part = object["tags"].clone();
    value moved = std::move(object);
    CHECK(!object.look().is_defined() && moved["age"].is_defined());
    moved = value(3);
    CHECK(part.json() == R"(["a","b"])" && moved.json() == "3");

    CHECK(THROWS(solon::input_error, value::from_json("{")));
    CHECK(THROWS(solon::argument_error, value("\xff")));
    CHECK(THROWS(solon::argument_error, value(std::numeric_limits<double>::infinity())));
    CHECK(!value::try_from_json("[") && !value::try_number("x") && value::try_string("x"));
    CHECK(value::try_from_json("[").error().code() == SOLON_ERROR_INPUT);
    return 0;
}
