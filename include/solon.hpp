/*
 * The C++ API of the Solon policy engine: the functions of solon.h as classes. Header-only, C++17.
 *
 * Handles can be moved, not copied. `const` functions do not change the object. The comments of the types in solon.h say which
 * objects several threads may use at once; engines and cancellation handles are among them, for all their functions.
 *
 * Functions come in two variants. `engine.prepare("authz/allow")` returns a document or throws a class of `solon::error`.
 * `engine.try_prepare("authz/allow")` returns a `solon::result`, which contains the document or a `solon::failure`. Constructors
 * that parse something also have a `make` or a `try_…`. If exceptions are disabled, functions that would throw terminate the
 * program.
 *
 * Undefined is `std::nullopt`, or a `solon::view` whose `is_defined()` is false; both differ from `null`.
 *
 * To check a permission, use `document.allow(…)`, or `is_true()` of a value. A value that is defined may be `false`.
 */

#ifndef SOLON_HPP
#define SOLON_HPP

#include <solon.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#if defined(__cpp_exceptions)
#define SOLON_EXCEPTIONS 1
#else
#define SOLON_EXCEPTIONS 0
#endif

namespace solon {

/** `true` if the library in use is compatible with this header. */
inline bool is_compatible() noexcept { return solon_abi() == SOLON_ABI; }

/** Version of the library in use. */
inline std::string_view version() noexcept { return solon_version(); }

/** Frees memory that is cached for later evaluations. */
inline void release_memory() noexcept { solon_release_memory(); }

namespace detail {

inline std::string_view text(solon_text text) noexcept { return {text.data, text.length}; }

/** Exists if `Given`, the deduced type of a forwarding reference, is a temporary of type `T`. */
template <class Given, class T>
using temporary = std::enable_if_t<!std::is_lvalue_reference_v<Given> && std::is_same_v<std::remove_cv_t<Given>, T>, int>;

/** `true` for types of characters, which are not numbers. */
template <class T>
inline constexpr bool is_character = std::is_same_v<T, char> || std::is_same_v<T, wchar_t> ||
#if defined(__cpp_char8_t)
                                     std::is_same_v<T, char8_t> ||
#endif
                                     std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>;

/** `true` for types of integers with at most 64 bits, except `int`. */
template <class T>
inline constexpr bool is_integer = std::is_integral_v<T> && !is_character<T> && !std::is_same_v<T, bool> &&
                                   !std::is_same_v<T, int> && sizeof(T) <= sizeof(std::int64_t);

/** `true` for types of pointers, except those to `char`. */
template <class T>
inline constexpr bool is_pointer = std::is_member_pointer_v<T> ||
                                   (std::is_pointer_v<T> && !std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, char>);

/** Converts text for C. Never NULL, because NULL would not be an empty text everywhere. */
inline solon_text text(std::string_view text) noexcept {
    return {text.data() == nullptr ? "" : text.data(), text.size()};
}

/** Converts many texts for C. */
template <class Texts>
std::vector<solon_text> texts(const Texts &given) {
    std::vector<solon_text> all;
    all.reserve(given.size());
    for (std::string_view one : given) {
        all.push_back(text(one));
    }
    return all;
}

/** Copies bytes of the library to a string and frees them. */
inline std::optional<std::string> taken(solon_bytes bytes) {
    if (bytes.data == nullptr) {
        return std::nullopt;
    }
    struct owner {
        solon_bytes bytes;
        ~owner() { solon_bytes_free(bytes); }
    } owner{bytes};
    return std::string(bytes.data, bytes.length);
}

/** An owned handle, freed once. */
template <class T, void (*Free)(T *)>
class handle {
public:
    handle() noexcept = default;
    explicit handle(T *pointer) noexcept : pointer_(pointer) {}
    handle(handle &&other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
    handle &operator=(handle &&other) noexcept {
        if (this != &other) {
            Free(pointer_);
            pointer_ = std::exchange(other.pointer_, nullptr);
        }
        return *this;
    }
    handle(const handle &) = delete;
    handle &operator=(const handle &) = delete;
    ~handle() { Free(pointer_); }

    /** The C handle, which this object still owns; NULL after a move. */
    T *get() const noexcept { return pointer_; }

    /** Output pointer for a C function. */
    T **out() noexcept { return &pointer_; }

private:
    T *pointer_ = nullptr;
};

} // namespace detail

/** One entry of an error. */
struct error_entry {
    std::string code;
    std::string message;
    std::string file;
    std::uint32_t row = 0;
    std::uint32_t column = 0;
};

/** The error of a function that does not throw. */
class [[nodiscard]] failure {
public:
    explicit failure(solon_error *error) noexcept : error_(error) {}

    solon_code code() const noexcept { return solon_error_code(error_.get()); }
    std::string_view message() const noexcept { return detail::text(solon_error_message(error_.get())); }
    [[nodiscard]] std::string_view json() const noexcept { return detail::text(solon_error_json(error_.get())); }

    /** All entries of the error. */
    std::vector<error_entry> entries() const {
        std::vector<error_entry> entries;
        solon_error_entry entry;
        for (std::size_t at = 0; solon_error_entry_at(error_.get(), at, &entry) == 1; at++) {
            entries.push_back({std::string(detail::text(entry.code)), std::string(detail::text(entry.message)),
                               std::string(detail::text(entry.file)), entry.row, entry.column});
        }
        return entries;
    }

    /** Throws the exception class of its code. */
    [[noreturn]] void raise() const;

private:
    detail::handle<solon_error, solon_error_free> error_;
};

/** Base class of all exceptions. Each code of solon.h has a class. */
class error : public std::exception {
public:
    explicit error(const failure &failed)
        : code_(failed.code()), message_(failed.message()), json_(failed.json()), entries_(failed.entries()) {}

    const char *what() const noexcept override { return message_.c_str(); }
    solon_code code() const noexcept { return code_; }
    /** The error as JSON. */
    const std::string &json() const noexcept { return json_; }
    /** All entries of the error. */
    const std::vector<error_entry> &entries() const noexcept { return entries_; }

private:
    solon_code code_;
    std::string message_;
    std::string json_;
    std::vector<error_entry> entries_;
};

/** A bug of the engine. */
class internal_error : public error { using error::error; };
/** An invalid argument. */
class argument_error : public error { using error::error; };
/** Modules or a query that do not compile. */
class compile_error : public error { using error::error; };
/** An evaluation that failed or was stopped. */
class eval_error : public error { using error::error; };
/** An evaluation that exceeded its time limit. */
class timeout_error : public eval_error { using eval_error::eval_error; };
/** An evaluation that exceeded its memory limit, or an explanation. */
class memory_limit_error : public eval_error { using eval_error::eval_error; };
/** An evaluation that exceeded its step limit. */
class step_limit_error : public eval_error { using eval_error::eval_error; };
/** An evaluation that the caller cancelled. */
class cancelled_error : public eval_error { using eval_error::eval_error; };
/** A base document that does not exist, or that cannot be written at its path. */
class store_error : public error { using error::error; };
/** Text that is not valid JSON or YAML. */
class input_error : public error { using error::error; };
/** A value that does not fit the requested type. */
class output_error : public error { using error::error; };
/** A module that does not exist. */
class unknown_module_error : public error { using error::error; };
/** An invalid option. */
class options_error : public error { using error::error; };
/** Files that cannot be loaded. */
class load_error : public error { using error::error; };
/** A path with neither a rule nor data. */
class unknown_path_error : public error { using error::error; };

inline void failure::raise() const {
#if SOLON_EXCEPTIONS
    switch (code()) {
    case SOLON_ERROR_ARGUMENT: throw argument_error(*this);
    case SOLON_ERROR_COMPILE: throw compile_error(*this);
    case SOLON_ERROR_EVAL: throw eval_error(*this);
    case SOLON_ERROR_TIMEOUT: throw timeout_error(*this);
    case SOLON_ERROR_MEMORY: throw memory_limit_error(*this);
    case SOLON_ERROR_STEPS: throw step_limit_error(*this);
    case SOLON_ERROR_CANCELLED: throw cancelled_error(*this);
    case SOLON_ERROR_STORE: throw store_error(*this);
    case SOLON_ERROR_INPUT: throw input_error(*this);
    case SOLON_ERROR_OUTPUT: throw output_error(*this);
    case SOLON_ERROR_UNKNOWN_MODULE: throw unknown_module_error(*this);
    case SOLON_ERROR_OPTIONS: throw options_error(*this);
    case SOLON_ERROR_LOAD: throw load_error(*this);
    case SOLON_ERROR_UNKNOWN_PATH: throw unknown_path_error(*this);
    default: throw internal_error(*this);
    }
#else
    std::abort();
#endif
}

/** A result, or the failure. */
template <class T>
class [[nodiscard]] result {
public:
    result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
    result(failure failed) : held_(std::in_place_index<1>, std::move(failed)) {}

    /** `true` if there is no failure. */
    bool has_value() const noexcept { return held_.index() == 0; }

    /** `true` if there is no failure. Does not compile for decisions: a decision that denies has a value, too. */
    explicit operator bool() const noexcept {
        static_assert(!std::is_same_v<T, bool>,
                      "a decision that denies has a value, too: use value_or(false), value() or has_value()");
        return has_value();
    }

    /** The value; throws the failure if there is one. */
    [[nodiscard]] T value() && {
        check();
        return std::move(*std::get_if<0>(&held_));
    }
    /** The value, or `otherwise` after a failure: `document.try_allow(input).value_or(false)`. */
    [[nodiscard]] T value_or(T otherwise) && {
        return has_value() ? std::move(*std::get_if<0>(&held_)) : std::move(otherwise);
    }
    /** The value; throws the failure if there is one. */
    const T &operator*() const & {
        check();
        return *std::get_if<0>(&held_);
    }
    T &operator*() & {
        check();
        return *std::get_if<0>(&held_);
    }
    const T *operator->() const { return &**this; }
    T *operator->() { return &**this; }

    /** The failure. */
    const failure &error() const noexcept { return *std::get_if<1>(&held_); }

private:
    void check() const {
        if (auto *failed = std::get_if<1>(&held_)) {
            failed->raise();
        }
    }

    std::variant<T, failure> held_;
};

/** Success without a value, or the failure. */
template <>
class [[nodiscard]] result<void> {
public:
    result() noexcept = default;
    explicit result(solon_error *error) noexcept {
        if (error != nullptr) {
            failed_.emplace(error);
        }
    }

    explicit operator bool() const noexcept { return !failed_; }
    /** Throws the failure if there is one. */
    void value() const {
        if (failed_) {
            failed_->raise();
        }
    }
    const failure &error() const noexcept { return *failed_; }

private:
    std::optional<failure> failed_;
};

namespace detail {

/** Converts the result of a C function: an error, or an output that `Make` converts. */
template <class T, class Make>
result<T> made(solon_error *error, Make &&make) {
    if (error != nullptr) {
        return failure(error);
    }
    return result<T>(std::forward<Make>(make)());
}

/** A string that always exists. */
template <class Call>
result<std::string> bytes(Call &&call) {
    solon_bytes out{nullptr, 0};
    solon_error *error = std::forward<Call>(call)(&out);
    return made<std::string>(error, [&] { return taken(out).value_or(std::string()); });
}

/** A string that may be undefined. */
template <class Call>
result<std::optional<std::string>> optional_bytes(Call &&call) {
    solon_bytes out{nullptr, 0};
    solon_error *error = std::forward<Call>(call)(&out);
    return made<std::optional<std::string>>(error, [&] { return taken(out); });
}

/** Wraps a handle that a C function creates. */
template <class T, class Call>
result<T> object(Call &&call) {
    typename T::raw *pointer = nullptr;
    solon_error *error = std::forward<Call>(call)(&pointer);
    return made<T>(error, [&] { return T(pointer); });
}

} // namespace detail

class value;
class pair_range;

/** A borrowed value, or undefined. It lives as long as its container. */
class view {
public:
    view() noexcept = default;
    view(const solon_value *value) noexcept : value_(value) {}

    /** `true` if it is not undefined. The value itself may be `false`: use `is_true()` for a permission. */
    bool is_defined() const noexcept { return value_ != nullptr; }
    /** Not a condition: `false` and `null` are defined, too. */
    explicit operator bool() const = delete;
    const solon_value *get() const noexcept { return value_; }

    solon_kind kind() const noexcept { return solon_value_kind(value_); }
    bool is_null() const noexcept { return kind() == SOLON_KIND_NULL; }
    bool is_true() const noexcept { return solon_value_is_true(value_) == 1; }

    /** A boolean. As a condition it is true for `false`, too, so use `is_true()` for a permission. */
    std::optional<bool> as_bool() const noexcept {
        return kind() == SOLON_KIND_BOOLEAN ? std::optional(is_true()) : std::nullopt;
    }
    /** An integer that fits. */
    std::optional<std::int64_t> as_int() const noexcept {
        std::int64_t number = 0;
        return solon_value_to_int(value_, &number) == 1 ? std::optional(number) : std::nullopt;
    }
    std::optional<double> as_double() const noexcept {
        double number = 0;
        return solon_value_to_double(value_, &number) == 1 ? std::optional(number) : std::nullopt;
    }
    /** A string, without a copy. */
    std::optional<std::string_view> as_text() const noexcept {
        solon_text text{nullptr, 0};
        return solon_value_to_text(value_, &text) == 1 ? std::optional(detail::text(text)) : std::nullopt;
    }

    /** Number of elements, members, pairs or bytes. */
    std::size_t size() const noexcept { return solon_value_length(value_); }
    /** An element of an array or a member of a set; undefined beyond the end. */
    view item(std::size_t index) const noexcept { return solon_value_item(value_, index); }
    /** The value of a string key in an object. */
    view operator[](std::string_view key) const noexcept { return solon_value_get(value_, key.data(), key.size()); }
    /** The value of a key in an object, the element at an index of an array, or the member of a set that equals `key`. */
    view find(view key) const noexcept { return solon_value_lookup(value_, key.get()); }

    /** Iterates over the elements of an array or the members of a set. */
    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = view;
        using difference_type = std::ptrdiff_t;
        using pointer = const view *;
        using reference = view;

        iterator(const solon_value *value, std::size_t at) noexcept : value_(value), at_(at) {}
        view operator*() const noexcept { return solon_value_item(value_, at_); }
        iterator &operator++() noexcept {
            at_++;
            return *this;
        }
        iterator operator++(int) noexcept {
            iterator before = *this;
            at_++;
            return before;
        }
        bool operator==(const iterator &other) const noexcept { return at_ == other.at_; }
        bool operator!=(const iterator &other) const noexcept { return at_ != other.at_; }

    private:
        const solon_value *value_;
        std::size_t at_;
    };
    iterator begin() const noexcept { return {value_, 0}; }
    iterator end() const noexcept {
        bool has_items = kind() == SOLON_KIND_ARRAY || kind() == SOLON_KIND_SET;
        return {value_, has_items ? size() : 0};
    }

    /** The pairs of an object: `for (auto [key, value] : object.pairs())`. */
    pair_range pairs() const;

    /** The value as JSON. */
    [[nodiscard]] std::string json() const { return try_json().value(); }
    result<std::string> try_json() const {
        return detail::bytes([&](solon_bytes *out) { return solon_value_json(value_, out); });
    }

    /** An owned copy. */
    value clone() const;
    result<value> try_clone() const;

    /** Compares by Rego's order; undefined sorts first. */
    int compare(view other) const noexcept { return solon_value_compare(value_, other.value_); }

private:
    const solon_value *value_ = nullptr;
};

inline bool operator==(view left, view right) noexcept { return left.compare(right) == 0; }
inline bool operator!=(view left, view right) noexcept { return left.compare(right) != 0; }
inline bool operator<(view left, view right) noexcept { return left.compare(right) < 0; }

/** The pairs of an object. Can be iterated once. */
class pair_range {
public:
    explicit pair_range(view object) {
        if (object.is_defined()) {
            result<void>(solon_pairs_new(object.get(), pairs_.out())).value();
        }
    }

    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = std::pair<view, view>;
        using difference_type = std::ptrdiff_t;
        using pointer = const value_type *;
        using reference = value_type;

        iterator() noexcept = default;
        explicit iterator(solon_pairs *pairs) noexcept : pairs_(pairs) { ++*this; }
        value_type operator*() const noexcept { return {key_, value_}; }
        iterator &operator++() noexcept {
            if (solon_pairs_next(pairs_, &key_, &value_) == 0) {
                pairs_ = nullptr;
            }
            return *this;
        }
        bool operator==(const iterator &other) const noexcept { return pairs_ == other.pairs_; }
        bool operator!=(const iterator &other) const noexcept { return pairs_ != other.pairs_; }

    private:
        solon_pairs *pairs_ = nullptr;
        const solon_value *key_ = nullptr;
        const solon_value *value_ = nullptr;
    };
    iterator begin() noexcept { return iterator(pairs_.get()); }
    iterator end() noexcept { return {}; }

private:
    detail::handle<solon_pairs, solon_pairs_free> pairs_;
};

inline pair_range view::pairs() const { return pair_range(*this); }

/** An owned value. */
class [[nodiscard]] value {
public:
    /** `null` */
    value() : value(nullptr) {}
    value(std::nullptr_t) { own(solon_value_null(handle_.out())); }
    value(bool boolean) { own(solon_value_boolean(boolean ? 1 : 0, handle_.out())); }
    value(int number) { own(solon_value_int(number, handle_.out())); }
    /** An integer of another type. */
    template <class Integer, std::enable_if_t<detail::is_integer<Integer>, int> = 0>
    value(Integer number) {
        if constexpr (std::is_unsigned_v<Integer> && sizeof(Integer) == sizeof(std::int64_t)) {
            if (number > static_cast<Integer>(INT64_MAX)) {
                const std::string digits = std::to_string(number);
                own(solon_value_number(digits.data(), digits.size(), handle_.out()));
                return;
            }
        }
        own(solon_value_int(static_cast<std::int64_t>(number), handle_.out()));
    }
    /** A character is neither a number nor a string: pass `std::string(1, character)`. */
    template <class Character, std::enable_if_t<detail::is_character<Character>, int> = 0>
    value(Character) = delete;
    /** A pointer is not a value. */
    template <class Pointer, std::enable_if_t<detail::is_pointer<Pointer>, int> = 0>
    value(Pointer) = delete;
    value(double number) { own(solon_value_double(number, handle_.out())); }
    /** A string, which must be UTF-8. */
    value(std::string_view text) { own(solon_value_string(text.data(), text.size(), handle_.out())); }
    value(const char *text) : value(std::string_view(text)) {}
    value(const std::string &text) : value(std::string_view(text)) {}
    using raw = solon_value;
    /** Takes ownership of a C handle. */
    explicit value(solon_value *taken) noexcept : handle_(taken) {}

    /** A number from its text, which stays exact. */
    static value number(std::string_view text) { return try_number(text).value(); }
    static result<value> try_number(std::string_view text) {
        return detail::object<value>(
            [&](solon_value **out) { return solon_value_number(text.data(), text.size(), out); });
    }
    static result<value> try_string(std::string_view text) {
        return detail::object<value>(
            [&](solon_value **out) { return solon_value_string(text.data(), text.size(), out); });
    }
    static value array(const std::vector<value> &items) {
        return compound(items, solon_value_array);
    }
    static value array(std::initializer_list<value> items) {
        return compound(items, solon_value_array);
    }
    static value set(const std::vector<value> &items) { return compound(items, solon_value_set); }
    static value set(std::initializer_list<value> items) {
        return compound(items, solon_value_set);
    }
    /** An object: `value::object({{"name", name}, {"age", 7}})`. */
    static value object(std::initializer_list<std::pair<value, value>> pairs) {
        return object_of(pairs.begin(), pairs.end());
    }
    static value object(const std::vector<std::pair<value, value>> &pairs) {
        return object_of(pairs.begin(), pairs.end());
    }
    static value from_json(std::string_view json) { return try_from_json(json).value(); }
    static result<value> try_from_json(std::string_view json) {
        return detail::object<value>(
            [&](solon_value **out) { return solon_value_from_json(json.data(), json.size(), out); });
    }
    static value from_yaml(std::string_view yaml) { return try_from_yaml(yaml).value(); }
    static result<value> try_from_yaml(std::string_view yaml) {
        return detail::object<value>(
            [&](solon_value **out) { return solon_value_from_yaml(yaml.data(), yaml.size(), out); });
    }

    operator view() const noexcept { return handle_.get(); }
    /** A view of the value. `value->kind()` and `value->json()` use it. */
    view look() const noexcept { return handle_.get(); }
    view operator[](std::string_view key) const noexcept { return look()[key]; }
    [[nodiscard]] std::string json() const { return look().json(); }
    const solon_value *get() const noexcept { return handle_.get(); }
    value clone() const { return look().clone(); }

    /** Passes ownership to C, which frees the value. */
    solon_value *release() noexcept { return std::exchange(*handle_.out(), nullptr); }

private:
    void own(solon_error *error) { result<void>(error).value(); }

    static const solon_value *of(const value &item) noexcept { return item.get(); }

    template <class Items, class Make>
    static value compound(const Items &items, Make make) {
        std::vector<const solon_value *> pointers;
        for (const value &item : items) {
            pointers.push_back(item.get());
        }
        solon_value *made = nullptr;
        result<void>(make(pointers.data(), pointers.size(), &made)).value();
        return value(made);
    }

    template <class Iterator>
    static value object_of(Iterator begin, Iterator end) {
        std::vector<const solon_value *> keys, values;
        for (Iterator at = begin; at != end; ++at) {
            keys.push_back(at->first.get());
            values.push_back(at->second.get());
        }
        solon_value *made = nullptr;
        result<void>(solon_value_object(keys.data(), values.data(), keys.size(), &made)).value();
        return value(made);
    }

    detail::handle<solon_value, solon_value_free> handle_;
};

inline bool operator==(const value &left, const value &right) noexcept { return view(left) == view(right); }
inline bool operator!=(const value &left, const value &right) noexcept { return view(left) != view(right); }

inline value view::clone() const { return try_clone().value(); }
inline result<value> view::try_clone() const {
    return detail::object<value>([&](solon_value **out) { return solon_value_clone(value_, out); });
}

namespace detail {

/** Takes ownership of a value of the library; `std::nullopt` for NULL. */
inline std::optional<value> owned(solon_value *given) {
    return given == nullptr ? std::nullopt : std::optional<value>(value(given));
}

/** A value that may be undefined. */
template <class Call>
result<std::optional<value>> optional_value(Call &&call) {
    solon_value *found = nullptr;
    solon_error *error = std::forward<Call>(call)(&found);
    return made<std::optional<value>>(error, [&] { return owned(found); });
}

/** A result or an error for each input, unless one error applies to all of them. */
template <class T, class Answers, class Take>
result<std::vector<result<T>>> each(solon_error *error, const Answers &answers,
                                    const std::vector<solon_error *> &errors, Take &&take) {
    return made<std::vector<result<T>>>(error, [&] {
        std::vector<result<T>> results;
        results.reserve(answers.size());
        for (std::size_t at = 0; at < answers.size(); at++) {
            if (errors[at] != nullptr) {
                results.emplace_back(failure(errors[at]));
            } else {
                results.emplace_back(take(answers[at]));
            }
        }
        return results;
    });
}

/** Converts a list of strings to the JSON array that options take. */
inline std::string json(const std::vector<std::string> &strings) {
    std::vector<value> items;
    for (const std::string &one : strings) {
        items.emplace_back(one);
    }
    return value::array(items).json();
}

/** Converts a limit: without a value the default, `unbounded` for no limit. */
inline std::uint64_t bound(std::optional<std::uint64_t> bound) noexcept {
    if (!bound) {
        return 0;
    }
    return *bound == 0 ? 1 : *bound;
}

inline std::uint64_t bound(std::optional<std::chrono::nanoseconds> bound) noexcept {
    if (!bound) {
        return 0;
    }
    return bound->count() <= 0 ? 1 : static_cast<std::uint64_t>(bound->count());
}

} // namespace detail

/** No limit. */
inline constexpr std::uint64_t unbounded = UINT64_MAX;

/** Limits of an evaluation; limits without a value have their defaults. */
struct limits {
    std::optional<std::chrono::nanoseconds> time;
    std::optional<std::uint64_t> steps;
    std::optional<std::uint64_t> memory;
    std::optional<std::uint64_t> explanation;
};

/** A call of a host function. */
class call {
public:
    call(solon_call *handle, const solon_value *const *arguments, std::size_t count) noexcept
        : call_(handle), arguments_(arguments), count_(count) {}

    std::size_t size() const noexcept { return count_; }
    view operator[](std::size_t index) const noexcept {
        return index < count_ ? view(arguments_[index]) : view();
    }
    /** The metadata of the request. */
    view metadata() const noexcept { return solon_call_metadata(call_); }
    /** Adds a field to the response metadata. */
    void add_response_metadata(std::string_view name, view value) { try_add_response_metadata(name, value).value(); }
    result<void> try_add_response_metadata(std::string_view name, view value) {
        return result<void>(solon_call_add_response_metadata(call_, name.data(), name.size(), value.get()));
    }
    /** Fails the call, like an exception. */
    void fail(std::string_view message) noexcept {
        (void)result<void>(solon_call_fail(call_, message.data(), message.size()));
    }
    /** Fails the evaluation, strict or not. */
    void halt(std::string_view message) noexcept {
        (void)result<void>(solon_call_halt(call_, message.data(), message.size()));
    }

private:
    solon_call *call_;
    const solon_value *const *arguments_;
    std::size_t count_;
};

/** A function that policies may call like a built-in function. It is called on several threads at once. */
class [[nodiscard]] function {
public:
    using raw = solon_function;
    /** Takes ownership of a C handle. */
    explicit function(solon_function *taken) noexcept : handle_(taken) {}

    /** Body of the function: `std::nullopt` is undefined, an exception is an error of the built-in function. */
    using body = std::function<std::optional<value>(call &)>;

    /** `declaration` is its type in the JSON format of capabilities, `purity` one of `SOLON_FUNCTION_…`. */
    function(std::string_view name, std::string_view declaration, body does, solon_purity purity = SOLON_FUNCTION_PURE)
        : function(make(name, declaration, std::move(does), purity).value()) {}

    static result<function> make(std::string_view name, std::string_view declaration, body does,
                                 solon_purity purity = SOLON_FUNCTION_PURE) {
        auto owned = std::make_unique<body>(std::move(does));
        auto made = detail::object<function>([&](solon_function **out) {
            return solon_function_new(name.data(), name.size(), declaration.data(), declaration.size(), purity, run,
                                      owned.get(), release, out);
        });
        if (made) {
            // ownership has passed to the library, which releases it
            (void)owned.release();
        }
        return made;
    }

    solon_function *get() const noexcept { return handle_.get(); }

private:
    static solon_value *run(void *userdata, solon_call *handle, const solon_value *const *arguments,
                            std::size_t count) {
        call call(handle, arguments, count);
#if SOLON_EXCEPTIONS
        try {
#endif
            std::optional<value> answer = (*static_cast<body *>(userdata))(call);
            return answer ? answer->release() : nullptr;
#if SOLON_EXCEPTIONS
        } catch (const std::exception &error) {
            call.fail(error.what());
        } catch (...) {
            call.fail("an exception that is none of the standard library's");
        }
        return nullptr;
#endif
    }

    static void release(void *userdata) { delete static_cast<body *>(userdata); }

    detail::handle<solon_function, solon_function_free> handle_;
};

/** Options of an engine. */
struct options {
    solon_rego rego = SOLON_REGO_DEFAULT;
    bool strict = false;
    bool allow_base_conflicts = false;
    solon_host host = SOLON_HOST_SYSTEM;
    std::int64_t now_ns = 0;
    /** Features that policies may use, in the JSON format of OPA's capabilities. */
    std::optional<std::string> capabilities;
    /** Hosts that policies may connect to. */
    std::optional<std::vector<std::string>> allow_net;
    solon::limits limits;
    std::uint64_t response_cache = 0;
    /** SQLite file that stores modules and data beyond the process; empty to keep them in memory. */
    std::string store_path;
    /** Host functions. They may be destroyed after the engine is created. */
    std::vector<std::reference_wrapper<const function>> functions;
};

/** Cancels evaluations from another thread. */
class [[nodiscard]] cancel {
public:
    cancel() { result<void>(solon_cancel_new(handle_.out())).value(); }
    void stop() noexcept { solon_cancel_cancel(handle_.get()); }
    bool is_stopped() const noexcept { return solon_cancel_is_cancelled(handle_.get()) == 1; }
    const solon_cancel *get() const noexcept { return handle_.get(); }

private:
    detail::handle<solon_cancel, solon_cancel_free> handle_;
};

/** Snapshot of the modules and the data of an engine. */
class [[nodiscard]] snapshot {
public:
    using raw = solon_snapshot;
    /** Takes ownership of a C handle. */
    explicit snapshot(solon_snapshot *taken) noexcept : handle_(taken) {}

    std::uint64_t generation() const noexcept { return solon_snapshot_generation(handle_.get()); }
    /** Data at a path. It lives as long as the snapshot. */
    view get(std::string_view path) const { return try_get(path).value(); }
    result<view> try_get(std::string_view path) const {
        const solon_value *found = nullptr;
        return detail::made<view>(solon_snapshot_get(handle_.get(), path.data(), path.size(), &found),
                                  [&] { return view(found); });
    }
    const solon_snapshot *get() const noexcept { return handle_.get(); }

private:
    detail::handle<solon_snapshot, solon_snapshot_free> handle_;
};

/** Cached results of non-deterministic functions. */
class [[nodiscard]] nd_cache {
public:
    nd_cache() { result<void>(solon_nd_cache_new(nullptr, 0, handle_.out())).value(); }
    /** A cache that repeats a decision. */
    explicit nd_cache(std::string_view json) : nd_cache(make(json).value()) {}
    static result<nd_cache> make(std::string_view json) {
        return detail::object<nd_cache>(
            [&](solon_nd_cache **out) { return solon_nd_cache_new(json.data(), json.size(), out); });
    }
    using raw = solon_nd_cache;
    /** Takes ownership of a C handle. */
    explicit nd_cache(solon_nd_cache *taken) noexcept : handle_(taken) {}
    [[nodiscard]] std::string json() const { return try_json().value(); }
    result<std::string> try_json() const {
        return detail::bytes([&](solon_bytes *out) { return solon_nd_cache_json(handle_.get(), out); });
    }
    solon_nd_cache *get() const noexcept { return handle_.get(); }

private:
    detail::handle<solon_nd_cache, solon_nd_cache_free> handle_;
};

/** Response metadata of host functions. */
class [[nodiscard]] metadata {
public:
    metadata() { result<void>(solon_metadata_new(handle_.out())).value(); }
    value fields() const { return try_fields().value(); }
    result<value> try_fields() const {
        return detail::object<value>([&](solon_value **out) { return solon_metadata_value(handle_.get(), out); });
    }
    solon_metadata *get() const noexcept { return handle_.get(); }

private:
    detail::handle<solon_metadata, solon_metadata_free> handle_;
};

/** Times and counts of evaluations. */
class [[nodiscard]] metrics {
public:
    explicit metrics(bool instrument = false) {
        result<void>(solon_metrics_new(instrument ? 1 : 0, handle_.out())).value();
    }
    [[nodiscard]] std::string json() const { return try_json().value(); }
    result<std::string> try_json() const {
        return detail::bytes([&](solon_bytes *out) { return solon_metrics_json(handle_.get(), out); });
    }
    solon_metrics *get() const noexcept { return handle_.get(); }

private:
    detail::handle<solon_metrics, solon_metrics_free> handle_;
};

/** Coverage: the evaluated lines. */
class [[nodiscard]] coverage {
public:
    coverage() { result<void>(solon_coverage_new(handle_.out())).value(); }
    [[nodiscard]] std::string json(const snapshot &snapshot) const { return try_json(snapshot).value(); }
    result<std::string> try_json(const snapshot &snapshot) const {
        return detail::bytes([&](solon_bytes *out) { return solon_coverage_json(handle_.get(), snapshot.get(), out); });
    }
    solon_coverage *get() const noexcept { return handle_.get(); }

private:
    detail::handle<solon_coverage, solon_coverage_free> handle_;
};

/** Profile: evaluation time by row. */
class [[nodiscard]] profile {
public:
    profile() { result<void>(solon_profile_new(handle_.out())).value(); }
    [[nodiscard]] std::string json(const snapshot &snapshot) { return try_json(snapshot).value(); }
    result<std::string> try_json(const snapshot &snapshot) {
        return detail::bytes([&](solon_bytes *out) { return solon_profile_json(handle_.get(), snapshot.get(), out); });
    }
    solon_profile *get() const noexcept { return handle_.get(); }

private:
    detail::handle<solon_profile, solon_profile_free> handle_;
};

/**
 * Inputs and settings of one evaluation. Objects that it refers to must live until the evaluation ends; temporaries are rejected
 * by the compiler.
 */
class request {
public:
    request() noexcept {
        given_ = solon_request();
        given_.size = sizeof given_;
    }

    request &input_json(std::string_view json) & noexcept {
        solon_text text = detail::text(json);
        given_.input_json = text.data;
        given_.input_json_length = text.length;
        return *this;
    }
    template <class Text, detail::temporary<Text, std::string> = 0>
    request &input_json(Text &&) = delete;
    request &input(view input) & noexcept {
        given_.input = input.get();
        return *this;
    }
    template <class Value, detail::temporary<Value, value> = 0>
    request &input(Value &&) = delete;
    request &snapshot(const solon::snapshot &snapshot) & noexcept {
        given_.snapshot = snapshot.get();
        return *this;
    }
    request &snapshot(const solon::snapshot &&) = delete;
    request &cancel(const solon::cancel &cancel) & noexcept {
        given_.cancel = cancel.get();
        return *this;
    }
    request &cancel(const solon::cancel &&) = delete;
    request &limits(const solon::limits &limits) & noexcept {
        given_.time_limit_ns = detail::bound(limits.time);
        given_.step_limit = detail::bound(limits.steps);
        given_.memory_limit = detail::bound(limits.memory);
        given_.explanation_limit = detail::bound(limits.explanation);
        return *this;
    }
    request &strict_builtin_errors(bool strict = true) & noexcept {
        given_.strict_builtin_errors = strict ? 1 : 0;
        return *this;
    }
    /** Receives the lines that policies print. An exception of it terminates the program. */
    request &print(std::function<void(std::string_view)> print) & {
        print_ = std::move(print);
        return *this;
    }
    request &nd_cache(solon::nd_cache &cache) & noexcept {
        given_.nd_cache = cache.get();
        return *this;
    }
    request &metadata(view metadata) & noexcept {
        given_.metadata = metadata.get();
        return *this;
    }
    template <class Value, detail::temporary<Value, value> = 0>
    request &metadata(Value &&) = delete;
    request &response_metadata(solon::metadata &metadata) & noexcept {
        given_.response_metadata = metadata.get();
        return *this;
    }
    request &metrics(solon::metrics &metrics) & noexcept {
        given_.metrics = metrics.get();
        return *this;
    }
    request &coverage(solon::coverage &coverage) & noexcept {
        given_.coverage = coverage.get();
        return *this;
    }
    request &profile(solon::profile &profile) & noexcept {
        given_.profile = profile.get();
        return *this;
    }

    /** The C structure. It is valid while this request is neither moved nor changed. */
    solon_request get() const noexcept {
        solon_request given = given_;
        if (print_) {
            given.print = print_line;
            given.print_userdata = const_cast<std::function<void(std::string_view)> *>(&print_);
        }
        return given;
    }

private:
    static void print_line(void *userdata, const char *line, std::size_t length) noexcept {
        (*static_cast<std::function<void(std::string_view)> *>(userdata))(std::string_view(line, length));
    }

    solon_request given_;
    std::function<void(std::string_view)> print_;
};

/** The solutions of a query. */
class [[nodiscard]] solutions {
public:
    using raw = solon_solutions;
    /** Takes ownership of a C handle. */
    explicit solutions(solon_solutions *taken) noexcept : handle_(taken) {}

    std::size_t size() const noexcept { return solon_solutions_count(handle_.get()); }
    bool empty() const noexcept { return size() == 0; }
    /** The names of the variables. */
    std::vector<std::string_view> names() const {
        std::vector<std::string_view> names;
        for (std::size_t at = 0; at < solon_solutions_binding_count(handle_.get()); at++) {
            names.push_back(detail::text(solon_solutions_name(handle_.get(), at)));
        }
        return names;
    }
    /** The value of a variable in a solution. */
    view binding(std::size_t index, std::string_view name) const noexcept {
        return solon_solutions_binding(handle_.get(), index, name.data(), name.size());
    }
    /** The value of an expression in a solution. */
    view value(std::size_t index, std::size_t expression) const noexcept {
        return solon_solutions_value(handle_.get(), index, expression);
    }

private:
    detail::handle<solon_solutions, solon_solutions_free> handle_;
};

/** Residuals of a query. */
class [[nodiscard]] residuals {
public:
    using raw = solon_residuals;
    /** Takes ownership of a C handle. */
    explicit residuals(solon_residuals *taken) noexcept : handle_(taken) {}

    /** Bodies, at least one of which must be true; an empty one is always true. */
    std::vector<std::string_view> queries() const {
        return texts(solon_residuals_query_count(handle_.get()), solon_residuals_query);
    }
    /** The modules that the bodies refer to. */
    std::vector<std::string_view> support() const {
        return texts(solon_residuals_support_count(handle_.get()), solon_residuals_support);
    }
    /** Both as syntax trees. */
    [[nodiscard]] std::string_view json() const noexcept { return detail::text(solon_residuals_json(handle_.get())); }

private:
    std::vector<std::string_view> texts(std::size_t count,
                                        solon_text (*text)(const solon_residuals *, std::size_t)) const {
        std::vector<std::string_view> texts;
        for (std::size_t at = 0; at < count; at++) {
            texts.push_back(detail::text(text(handle_.get(), at)));
        }
        return texts;
    }

    detail::handle<solon_residuals, solon_residuals_free> handle_;
};

/** A result and its explanation. */
class [[nodiscard]] explanation {
public:
    using raw = solon_explanation;
    /** Takes ownership of a C handle. */
    explicit explanation(solon_explanation *taken) noexcept : handle_(taken) {}

    /** The steps as human-readable lines. */
    [[nodiscard]] std::string text(bool places = false, bool variables = false) const { return try_text(places, variables).value(); }
    result<std::string> try_text(bool places = false, bool variables = false) const {
        return detail::bytes([&](solon_bytes *out) {
            return solon_explanation_text(handle_.get(), places ? 1 : 0, variables ? 1 : 0, out);
        });
    }
    [[nodiscard]] std::string json() const { return try_json().value(); }
    result<std::string> try_json() const {
        return detail::bytes([&](solon_bytes *out) { return solon_explanation_json(handle_.get(), out); });
    }
    /** The value of the explained document, or the error that the evaluation ended with. */
    [[nodiscard]] std::optional<value> document() const { return try_document().value(); }
    result<std::optional<value>> try_document() const {
        return detail::optional_value(
            [&](solon_value **out) { return solon_explanation_value(handle_.get(), out); });
    }
    /** The solutions of the explained query. */
    solon::solutions solutions() const { return try_solutions().value(); }
    result<solon::solutions> try_solutions() const {
        return detail::object<solon::solutions>(
            [&](solon_solutions **out) { return solon_explanation_solutions(handle_.get(), out); });
    }
    /** The residuals of the explained query. */
    solon::residuals residuals() const { return try_residuals().value(); }
    result<solon::residuals> try_residuals() const {
        return detail::object<solon::residuals>(
            [&](solon_residuals **out) { return solon_explanation_residuals(handle_.get(), out); });
    }

private:
    detail::handle<solon_explanation, solon_explanation_free> handle_;
};

/** A prepared document, which several threads may evaluate at once. It follows changes of its engine. */
class [[nodiscard]] document {
public:
    using raw = solon_document;
    /** Takes ownership of a C handle. */
    explicit document(solon_document *taken) noexcept : handle_(taken) {}

    /** `true` if the document is exactly `true`. The fastest way to decide. Throws if the evaluation fails. */
    [[nodiscard]] bool allow(std::string_view input_json) const { return try_allow(input_json).value(); }
    result<bool> try_allow(std::string_view input_json) const {
        solon_text text = detail::text(input_json);
        bool allowed = false;
        solon_error *error = solon_document_allow(handle_.get(), text.data, text.length, &allowed);
        return detail::made<bool>(error, [&] { return allowed; });
    }
    [[nodiscard]] bool allow(const request &request) const { return try_allow(request).value(); }
    result<bool> try_allow(const request &request) const {
        solon_request given = request.get();
        bool allowed = false;
        solon_error *error = solon_document_allow_with(handle_.get(), &given, &allowed);
        return detail::made<bool>(error, [&] { return allowed; });
    }

    /** The document as JSON. */
    [[nodiscard]] std::optional<std::string> evaluate_json(std::string_view input_json) const {
        return try_evaluate_json(input_json).value();
    }
    result<std::optional<std::string>> try_evaluate_json(std::string_view input_json) const {
        solon_text text = detail::text(input_json);
        return detail::optional_bytes([&](solon_bytes *out) {
            return solon_document_evaluate_json(handle_.get(), text.data, text.length, out);
        });
    }

    [[nodiscard]] std::optional<value> evaluate(const request &request = {}) const { return try_evaluate(request).value(); }
    result<std::optional<value>> try_evaluate(const request &request = {}) const {
        solon_request given = request.get();
        return detail::optional_value(
            [&](solon_value **out) { return solon_document_evaluate(handle_.get(), &given, out); });
    }
    [[nodiscard]] std::optional<std::string> evaluate_json(const request &request = {}) const { return try_evaluate_json(request).value(); }
    result<std::optional<std::string>> try_evaluate_json(const request &request = {}) const {
        solon_request given = request.get();
        return detail::optional_bytes(
            [&](solon_bytes *out) { return solon_document_evaluate_json_with(handle_.get(), &given, out); });
    }

    /** Evaluates the document for many inputs, JSON texts, on one snapshot. Each input has its own result or error. */
    [[nodiscard]] std::vector<result<std::optional<std::string>>> evaluate_many_json(const std::vector<std::string_view> &inputs,
                                                                  const request &request = {}) const {
        return try_evaluate_many_json(inputs, request).value();
    }
    result<std::vector<result<std::optional<std::string>>>> try_evaluate_many_json(const std::vector<std::string_view> &inputs,
                                                                              const request &request = {}) const {
        solon_request given = request.get();
        std::vector<solon_text> texts = detail::texts(inputs);
        std::vector<solon_bytes> answers(inputs.size(), solon_bytes{nullptr, 0});
        std::vector<solon_error *> errors(inputs.size(), nullptr);
        solon_error *error = solon_document_evaluate_many_json(handle_.get(), &given, texts.data(), texts.size(),
                                                          answers.data(), errors.data());
        return detail::each<std::optional<std::string>>(error, answers, errors, detail::taken);
    }

    /** Evaluates the document for many inputs that are values. */
    [[nodiscard]] std::vector<result<std::optional<value>>> evaluate_many(const std::vector<view> &inputs, const request &request = {}) const {
        return try_evaluate_many(inputs, request).value();
    }
    result<std::vector<result<std::optional<value>>>> try_evaluate_many(const std::vector<view> &inputs,
                                                                   const request &request = {}) const {
        solon_request given = request.get();
        std::vector<const solon_value *> taken;
        taken.reserve(inputs.size());
        for (view input : inputs) {
            taken.push_back(input.get());
        }
        std::vector<solon_value *> answers(inputs.size(), nullptr);
        std::vector<solon_error *> errors(inputs.size(), nullptr);
        solon_error *error = solon_document_evaluate_many(handle_.get(), &given, taken.data(), taken.size(), answers.data(),
                                                     errors.data());
        return detail::each<std::optional<value>>(error, answers, errors, detail::owned);
    }

    /** Evaluates the document and explains the result; `detail` is one of `SOLON_DETAIL_…`. */
    explanation explain(const request &request = {}, solon_detail detail = SOLON_DETAIL_FULL) const {
        return try_explain(request, detail).value();
    }
    result<explanation> try_explain(const request &request = {}, solon_detail detail = SOLON_DETAIL_FULL) const {
        solon_request given = request.get();
        return detail::object<explanation>([&](solon_explanation **out) {
            return solon_document_explain(handle_.get(), &given, detail, out);
        });
    }

    const solon_document *get() const noexcept { return handle_.get(); }

private:
    detail::handle<solon_document, solon_document_free> handle_;
};

/** A prepared query, which several threads may evaluate at once. It follows changes of its engine. */
class [[nodiscard]] query {
public:
    using raw = solon_query;
    /** Takes ownership of a C handle. */
    explicit query(solon_query *taken) noexcept : handle_(taken) {}

    solutions evaluate(const request &request = {}) const { return try_evaluate(request).value(); }
    result<solutions> try_evaluate(const request &request = {}) const {
        solon_request given = request.get();
        return detail::object<solutions>(
            [&](solon_solutions **out) { return solon_query_evaluate(handle_.get(), &given, out); });
    }
    [[nodiscard]] std::string evaluate_json(const request &request = {}) const { return try_evaluate_json(request).value(); }
    result<std::string> try_evaluate_json(const request &request = {}) const {
        solon_request given = request.get();
        return detail::bytes([&](solon_bytes *out) { return solon_query_evaluate_json(handle_.get(), &given, out); });
    }
    explanation explain(const request &request = {}, solon_detail detail = SOLON_DETAIL_FULL) const {
        return try_explain(request, detail).value();
    }
    result<explanation> try_explain(const request &request = {}, solon_detail detail = SOLON_DETAIL_FULL) const {
        solon_request given = request.get();
        return detail::object<explanation>(
            [&](solon_explanation **out) { return solon_query_explain(handle_.get(), &given, detail, out); });
    }

private:
    detail::handle<solon_query, solon_query_free> handle_;
};

/** A query prepared for partial evaluation. */
class [[nodiscard]] partial {
public:
    using raw = solon_partial;
    /** Takes ownership of a C handle. */
    explicit partial(solon_partial *taken) noexcept : handle_(taken) {}

    residuals evaluate(const request &request = {}) const { return try_evaluate(request).value(); }
    result<residuals> try_evaluate(const request &request = {}) const {
        solon_request given = request.get();
        return detail::object<residuals>(
            [&](solon_residuals **out) { return solon_partial_evaluate(handle_.get(), &given, out); });
    }
    explanation explain(const request &request = {}, solon_detail detail = SOLON_DETAIL_FULL) const {
        return try_explain(request, detail).value();
    }
    result<explanation> try_explain(const request &request = {}, solon_detail detail = SOLON_DETAIL_FULL) const {
        solon_request given = request.get();
        return detail::object<explanation>(
            [&](solon_explanation **out) { return solon_partial_explain(handle_.get(), &given, detail, out); });
    }

private:
    detail::handle<solon_partial, solon_partial_free> handle_;
};

/** Generated row filters, one for each target. */
class [[nodiscard]] filters {
public:
    using raw = solon_filters;
    /** Takes ownership of a C handle. */
    explicit filters(solon_filters *taken) noexcept : handle_(taken) {}

    /** `true` if the filter for a target, by its position, can select any row. */
    bool keeps(std::size_t target = 0) const noexcept { return solon_filters_keeps(handle_.get(), target) != 0; }
    /**
     * SQL that is empty if all rows are selected, and a condition that is never true if no row is. For UCAST, the JSON of a tree:
     * `{}` if all rows are selected, and empty if no row is.
     */
    std::string_view query(std::size_t target = 0) const noexcept {
        return detail::text(solon_filters_query(handle_.get(), target));
    }
    /** The values of the placeholders, a JSON array in their order. */
    std::string_view parameters(std::size_t target = 0) const noexcept {
        return detail::text(solon_filters_parameters(handle_.get(), target));
    }
    /** The masks of columns, a JSON object; empty if nothing is masked or no row is selected. */
    std::string_view masks() const noexcept { return detail::text(solon_filters_masks(handle_.get())); }
    /** The filters as one JSON object, in the format of the HTTP API. */
    [[nodiscard]] std::string_view json() const noexcept { return detail::text(solon_filters_json(handle_.get())); }

private:
    detail::handle<solon_filters, solon_filters_free> handle_;
};

/** A rule that is prepared to become a row filter. Several threads may evaluate it at once; it follows changes of its engine. */
class [[nodiscard]] filter {
public:
    using raw = solon_filter;
    /** Takes ownership of a C handle. */
    explicit filter(solon_filter *taken) noexcept : handle_(taken) {}

    filters evaluate(const request &request = {}) const { return try_evaluate(request).value(); }
    result<filters> try_evaluate(const request &request = {}) const {
        solon_request given = request.get();
        return detail::object<filters>(
            [&](solon_filters **out) { return solon_filter_evaluate(handle_.get(), &given, out); });
    }

private:
    detail::handle<solon_filter, solon_filter_free> handle_;
};

/** Options of a filter. */
struct filter_options {
    /** Names like `sql+postgresql` and `ucast+prisma`. */
    std::vector<std::string> targets;
    /** References like `input.fruits`; empty to use the METADATA of the rule. */
    std::vector<std::string> unknowns;
    /** Names of tables and columns in the database, a JSON object. */
    std::string mappings_json;
    /** The rule that computes masks of columns; empty to use the METADATA of the rule. */
    std::string mask_rule;
    /** Generate SQL with placeholders, and return their values separately. */
    bool parameters = false;
    /** Generate only the SQL condition, without `WHERE`. */
    bool bare = false;
    /** Generate SQL that selects exactly the rows for which the rule is true, if the tables are as the mappings declare them. */
    bool exact = false;
    /** Documents that are not inlined, by reference. */
    std::vector<std::string> disable_inlining;
    /** Generate conditions that OPA's targets reject, if they can be expressed exactly, as with `exact`. */
    bool extensions = false;
};

/** Context of a query. */
struct query_options {
    std::string package;
    std::vector<std::string> imports;
    std::vector<std::string> unsafe_builtins;
    solon::metrics *metrics = nullptr;
};

/** Options of partial evaluation. */
struct partial_options {
    std::vector<std::string> unknowns = {"input"};
    std::vector<std::string> disable_inlining;
    bool shallow_inlining = false;
    bool nondeterministic_builtins = false;
    bool skip_false_defaults = false;
    bool skip_namespace = false;
    std::string package;
};

/** A key that verifies bundles. */
struct verification_key {
    /** Id that signatures refer to. */
    std::string id;
    /** The only algorithm that signatures may use, such as `RS256`. */
    std::string algorithm;
    /** A secret, or a public key or certificate in PEM. */
    std::string key;
    /** Scope that signatures must have unless the options set one. */
    std::string scope;
};

/** Options for reading a bundle. Without keys, unsigned bundles are accepted and signed ones rejected. */
struct bundle_options {
    /** If there are any, a bundle must be signed by one of them. */
    std::vector<verification_key> keys;
    /** Id of the only key that may have signed the bundle; empty accepts the key that the signature names. */
    std::string key_id;
    /** Scope that a signature must have; empty is the scope of the key. */
    std::string scope;
    /** Glob patterns of files that need no signature. */
    std::vector<std::string> exclude;
    /** Accept unsigned bundles even if there are keys. An attacker who can change a bundle can then remove its signature. */
    bool accept_unsigned = false;
    /** Accept delta bundles, which cannot be signed, even if there are keys. */
    bool accept_unsigned_deltas = false;
    /** Accept all bundles without verifying signatures. `keys` must be empty. */
    bool skip_verification = false;
};

/** A bundle that was read and verified. Several threads may use it at once. */
class [[nodiscard]] bundle {
public:
    using raw = solon_bundle;
    /** Takes ownership of a C handle. */
    explicit bundle(solon_bundle *taken) noexcept : handle_(taken) {}
    /** The manifest. Absent fields are left out, except `revision` and `roots`. */
    [[nodiscard]] std::string manifest_json() const { return try_manifest_json().value(); }
    result<std::string> try_manifest_json() const {
        return detail::bytes([&](solon_bytes *out) { return solon_bundle_manifest_json(handle_.get(), out); });
    }
    const solon_bundle *get() const noexcept { return handle_.get(); }

private:
    detail::handle<solon_bundle, solon_bundle_free> handle_;
};

/** Options of the formatter, the flags of `solon fmt`. */
struct format_options {
    /** Name of the module in errors. */
    std::string name;
    bool v0_compatible = false;
    bool v0_v1 = false;
    bool v1_compatible = false;
    bool drop_v0_imports = false;
    /** Features that policies may use, in the JSON format of OPA's capabilities. */
    std::optional<std::string> capabilities;
};

/** Formats the text of a module as `solon fmt` does. */
inline result<std::string> try_format(std::string_view text, const format_options &options = {}) {
    solon_format_options given = solon_format_options();
    given.size = sizeof given;
    given.name = options.name.data();
    given.name_length = options.name.size();
    given.v0_compatible = options.v0_compatible ? 1 : 0;
    given.v0_v1 = options.v0_v1 ? 1 : 0;
    given.v1_compatible = options.v1_compatible ? 1 : 0;
    given.drop_v0_imports = options.drop_v0_imports ? 1 : 0;
    if (options.capabilities) {
        given.capabilities_json = options.capabilities->data();
        given.capabilities_json_length = options.capabilities->size();
    }
    return detail::bytes([&](solon_bytes *out) { return solon_format(text.data(), text.size(), &given, out); });
}
/** Formats the text of a module as `solon fmt` does. */
[[nodiscard]] inline std::string format(std::string_view text, const format_options &options = {}) {
    return try_format(text, options).value();
}

/** Changes of modules and data that are applied atomically. Only one thread at a time may use it. */
class [[nodiscard]] change {
public:
    change() { result<void>(solon_change_new(handle_.out())).value(); }

    change &set_module(std::string_view name, std::string_view text, solon_rego rego = SOLON_REGO_DEFAULT) & {
        return done(try_set_module(name, text, rego));
    }
    result<void> try_set_module(std::string_view name, std::string_view text, solon_rego rego = SOLON_REGO_DEFAULT) & {
        return result<void>(
            solon_change_set_module(handle_.get(), name.data(), name.size(), text.data(), text.size(), rego));
    }
    change &remove_module(std::string_view name) & { return done(try_remove_module(name)); }
    result<void> try_remove_module(std::string_view name) & {
        return result<void>(solon_change_remove_module(handle_.get(), name.data(), name.size()));
    }
    change &put(std::string_view path, view value) & { return done(try_put(path, value)); }
    result<void> try_put(std::string_view path, view value) & {
        return result<void>(solon_change_put(handle_.get(), path.data(), path.size(), value.get()));
    }
    change &put_json(std::string_view path, std::string_view json) & { return done(try_put_json(path, json)); }
    result<void> try_put_json(std::string_view path, std::string_view json) & {
        return result<void>(solon_change_put_json(handle_.get(), path.data(), path.size(), json.data(), json.size()));
    }
    change &patch_json(std::string_view json) & { return done(try_patch_json(json)); }
    result<void> try_patch_json(std::string_view json) & {
        return result<void>(solon_change_patch_json(handle_.get(), json.data(), json.size()));
    }
    change &remove(std::string_view path) & { return done(try_remove(path)); }
    result<void> try_remove(std::string_view path) & {
        return result<void>(solon_change_delete(handle_.get(), path.data(), path.size()));
    }
    /** Loads files and folders by OPA's rules, with the settings of the engine. With `bundles`, each path is a folder with a manifest. */
    change &load(const class engine &engine, const std::vector<std::string> &paths, bool bundles = false) & {
        return done(try_load(engine, paths, bundles));
    }
    result<void> try_load(const class engine &engine, const std::vector<std::string> &paths, bool bundles = false) &;

    solon_change *get() const noexcept { return handle_.get(); }

private:
    change &done(const result<void> &result) {
        result.value();
        return *this;
    }

    detail::handle<solon_change, solon_change_free> handle_;
};

/** A policy engine. Several threads may change and evaluate it at once. */
class [[nodiscard]] engine {
public:
    using raw = solon_engine;
    /** Takes ownership of a C handle. */
    explicit engine(solon_engine *taken) noexcept : handle_(taken) {}

    explicit engine(const options &options = {}) : engine(make(options).value()) {}
    static result<engine> make(const options &options = {}) {
        solon_options given = solon_options();
        std::string allow_net;
        std::vector<const solon_function *> functions;
        given.size = sizeof given;
        given.rego = options.rego;
        given.strict = options.strict ? 1 : 0;
        given.allow_base_conflicts = options.allow_base_conflicts ? 1 : 0;
        given.host = options.host;
        given.now_ns = options.now_ns;
        if (options.capabilities) {
            given.capabilities_json = options.capabilities->data();
            given.capabilities_json_length = options.capabilities->size();
        }
        if (options.allow_net) {
            allow_net = detail::json(*options.allow_net);
            given.allow_net_json = allow_net.data();
            given.allow_net_json_length = allow_net.size();
        }
        given.time_limit_ns = detail::bound(options.limits.time);
        given.step_limit = detail::bound(options.limits.steps);
        given.memory_limit = detail::bound(options.limits.memory);
        given.explanation_limit = detail::bound(options.limits.explanation);
        given.response_cache = options.response_cache;
        for (const function &function : options.functions) {
            functions.push_back(function.get());
        }
        given.functions = functions.data();
        given.function_count = functions.size();
        if (!options.store_path.empty()) {
            given.store_path = options.store_path.data();
            given.store_path_length = options.store_path.size();
        }
        return detail::object<engine>([&](solon_engine **out) { return solon_engine_new(&given, out); });
    }

    void set_module(std::string_view name, std::string_view text) { try_set_module(name, text).value(); }
    result<void> try_set_module(std::string_view name, std::string_view text) {
        return result<void>(
            solon_engine_set_module(handle_.get(), name.data(), name.size(), text.data(), text.size()));
    }
    /** Adds or replaces modules by name in one change, all of them or none. They may refer to one another. */
    void set_modules(const std::vector<std::pair<std::string_view, std::string_view>> &modules) {
        try_set_modules(modules).value();
    }
    result<void> try_set_modules(const std::vector<std::pair<std::string_view, std::string_view>> &modules) {
        std::vector<solon_module> given;
        for (const auto &[name, text] : modules) {
            solon_module module = {};
            module.name = detail::text(name);
            module.text = detail::text(text);
            given.push_back(module);
        }
        return result<void>(solon_engine_set_modules(handle_.get(), given.data(), given.size()));
    }
    void remove_module(std::string_view name) { try_remove_module(name).value(); }
    result<void> try_remove_module(std::string_view name) {
        return result<void>(solon_engine_remove_module(handle_.get(), name.data(), name.size()));
    }
    [[nodiscard]] std::vector<std::string> module_names() const { return try_module_names().value(); }
    result<std::vector<std::string>> try_module_names() const {
        solon_value *names = nullptr;
        solon_error *error = solon_engine_module_names(handle_.get(), &names);
        return detail::made<std::vector<std::string>>(error, [&] {
            value owner(names);
            std::vector<std::string> texts;
            for (view name : owner.look()) {
                texts.emplace_back(name.as_text().value_or(std::string_view()));
            }
            return texts;
        });
    }
    [[nodiscard]] std::string module_text(std::string_view name) const { return try_module_text(name).value(); }
    result<std::string> try_module_text(std::string_view name) const {
        return detail::bytes([&](solon_bytes *out) {
            return solon_engine_module_text(handle_.get(), name.data(), name.size(), out);
        });
    }
    /** The syntax tree of a module. */
    [[nodiscard]] std::string module_json(std::string_view name) const { return try_module_json(name).value(); }
    result<std::string> try_module_json(std::string_view name) const {
        return detail::bytes([&](solon_bytes *out) {
            return solon_engine_module_json(handle_.get(), name.data(), name.size(), out);
        });
    }

    /** Loads files and folders by OPA's rules. With `bundles`, each path is a folder with a manifest. */
    void load(const std::vector<std::string> &paths, bool bundles = false) {
        try_load(paths, bundles).value();
    }
    result<void> try_load(const std::vector<std::string> &paths, bool bundles = false) {
        std::vector<solon_text> texts = detail::texts(paths);
        return result<void>(solon_engine_load(handle_.get(), texts.data(), texts.size(), bundles ? 1 : 0));
    }

    /**
     * Reads and verifies the bundle in an archive. The engine does not change. `name` appears in messages.
     */
    solon::bundle read_bundle(std::string_view name, std::string_view archive, const bundle_options &options = {}) const {
        return try_read_bundle(name, archive, options).value();
    }
    result<solon::bundle> try_read_bundle(std::string_view name, std::string_view archive,
                                          const bundle_options &options = {}) const {
        verification checked(options);
        // an empty archive is an error of the archive, not a missing argument
        const char *bytes = archive.data() == nullptr ? "" : archive.data();
        return detail::object<solon::bundle>([&](solon_bundle **out) {
            return solon_bundle_read(handle_.get(), name.data(), name.size(), bytes, archive.size(), &checked.given, out);
        });
    }
    /** Reads and verifies the bundle at a path, a folder or an archive. */
    solon::bundle load_bundle(std::string_view name, std::string_view path, const bundle_options &options = {}) const {
        return try_load_bundle(name, path, options).value();
    }
    result<solon::bundle> try_load_bundle(std::string_view name, std::string_view path,
                                          const bundle_options &options = {}) const {
        verification checked(options);
        return detail::object<solon::bundle>([&](solon_bundle **out) {
            return solon_bundle_load(handle_.get(), name.data(), name.size(), path.data(), path.size(), &checked.given, out);
        });
    }
    /** Activates bundles under names in one change. */
    void activate_bundles(const std::vector<std::pair<std::string_view, std::reference_wrapper<const solon::bundle>>> &bundles) {
        try_activate_bundles(bundles).value();
    }
    result<void>
    try_activate_bundles(const std::vector<std::pair<std::string_view, std::reference_wrapper<const solon::bundle>>> &bundles) {
        std::vector<solon_text> names;
        std::vector<const solon_bundle *> handles;
        for (const auto &[name, bundle] : bundles) {
            names.push_back(detail::text(name));
            handles.push_back(bundle.get().get());
        }
        return result<void>(solon_engine_activate_bundles(handle_.get(), names.data(), handles.data(), handles.size()));
    }
    /** Removes the policies and documents of an active bundle. */
    void deactivate_bundle(std::string_view name) { try_deactivate_bundle(name).value(); }
    result<void> try_deactivate_bundle(std::string_view name) {
        return result<void>(solon_engine_deactivate_bundle(handle_.get(), name.data(), name.size()));
    }
    /** The active bundles, sorted by name: an array of objects with `name`, `revision` and `roots`. */
    value bundles() const { return try_bundles().value(); }
    result<value> try_bundles() const {
        return detail::object<value>([&](solon_value **out) { return solon_engine_bundles(handle_.get(), out); });
    }

    void set_data_json(std::string_view json) { try_set_data_json(json).value(); }
    result<void> try_set_data_json(std::string_view json) {
        return result<void>(solon_engine_set_data_json(handle_.get(), json.data(), json.size()));
    }
    void set_data_yaml(std::string_view yaml) { try_set_data_yaml(yaml).value(); }
    result<void> try_set_data_yaml(std::string_view yaml) {
        return result<void>(solon_engine_set_data_yaml(handle_.get(), yaml.data(), yaml.size()));
    }
    value get(std::string_view path) const { return try_get(path).value(); }
    result<value> try_get(std::string_view path) const {
        return detail::object<value>(
            [&](solon_value **out) { return solon_engine_get(handle_.get(), path.data(), path.size(), out); });
    }
    void put(std::string_view path, view value) { try_put(path, value).value(); }
    result<void> try_put(std::string_view path, view value) {
        return result<void>(solon_engine_put(handle_.get(), path.data(), path.size(), value.get()));
    }
    void patch_json(std::string_view json) { try_patch_json(json).value(); }
    result<void> try_patch_json(std::string_view json) {
        return result<void>(solon_engine_patch_json(handle_.get(), json.data(), json.size()));
    }
    void remove(std::string_view path) { try_remove(path).value(); }
    result<void> try_remove(std::string_view path) {
        return result<void>(solon_engine_delete(handle_.get(), path.data(), path.size()));
    }

    /** Applies a change, which is empty afterwards. */
    void apply(change &change, metrics *metrics = nullptr) { try_apply(change, metrics).value(); }
    result<void> try_apply(change &change, metrics *metrics = nullptr) {
        solon_metrics *measured = metrics == nullptr ? nullptr : metrics->get();
        return result<void>(solon_engine_apply(handle_.get(), change.get(), measured));
    }
    /** Checks a change without applying it, and returns the snapshot that it would create. */
    solon::snapshot check(const change &change) const { return try_check(change).value(); }
    result<solon::snapshot> try_check(const change &change) const {
        return detail::object<solon::snapshot>(
            [&](solon_snapshot **out) { return solon_engine_check(handle_.get(), change.get(), out); });
    }
    solon::snapshot snapshot() const { return try_snapshot().value(); }
    result<solon::snapshot> try_snapshot() const {
        return detail::object<solon::snapshot>(
            [&](solon_snapshot **out) { return solon_engine_snapshot(handle_.get(), out); });
    }
    std::uint64_t generation() const noexcept { return solon_engine_generation(handle_.get()); }

    /** Prepares a document, such as `data.authz.allow` or `authz/allow`. */
    document prepare(std::string_view path) const { return try_prepare(path).value(); }
    result<document> try_prepare(std::string_view path) const {
        return detail::object<document>([&](solon_document **out) {
            return solon_engine_prepare(handle_.get(), path.data(), path.size(), out);
        });
    }
    /** Prepares a document. Fails if its path has neither a rule nor data. */
    document prepare_existing(std::string_view path) const { return try_prepare_existing(path).value(); }
    result<document> try_prepare_existing(std::string_view path) const {
        return detail::object<document>([&](solon_document **out) {
            return solon_engine_prepare_existing(handle_.get(), path.data(), path.size(), out);
        });
    }
    solon::query query(std::string_view text, const query_options &options = {}) const {
        return try_query(text, options).value();
    }
    result<solon::query> try_query(std::string_view text, const query_options &options = {}) const {
        context given_context(options);
        return detail::object<solon::query>([&](solon_query **out) {
            return solon_engine_prepare_query(handle_.get(), text.data(), text.size(), &given_context.given, out);
        });
    }
    solon::partial partial(std::string_view text, const partial_options &options = {},
                           const query_options &query_options = {}) const {
        return try_partial(text, options, query_options).value();
    }
    result<solon::partial> try_partial(std::string_view text, const partial_options &options = {},
                                       const query_options &query_options = {}) const {
        context given_context(query_options);
        std::string unknowns = detail::json(options.unknowns), disabled = detail::json(options.disable_inlining);
        solon_partial_options given = solon_partial_options();
        given.size = sizeof given;
        given.unknowns_json = unknowns.data();
        given.unknowns_json_length = unknowns.size();
        given.disable_inlining_json = disabled.data();
        given.disable_inlining_json_length = disabled.size();
        given.shallow_inlining = options.shallow_inlining ? 1 : 0;
        given.nondeterministic_builtins = options.nondeterministic_builtins ? 1 : 0;
        given.skip_false_defaults = options.skip_false_defaults ? 1 : 0;
        given.skip_namespace = options.skip_namespace ? 1 : 0;
        if (!options.package.empty()) {
            given.package = options.package.data();
            given.package_length = options.package.size();
        }
        return detail::object<solon::partial>([&](solon_partial **out) {
            return solon_engine_prepare_partial(handle_.get(), text.data(), text.size(), &given, &given_context.given, out);
        });
    }

    /** Prepares a rule, such as `filters/include`, to become a row filter. Fails if the rule does not exist. */
    solon::filter filter(std::string_view path, const filter_options &options) const {
        return try_filter(path, options).value();
    }
    result<solon::filter> try_filter(std::string_view path, const filter_options &options) const {
        std::string targets = detail::json(options.targets), unknowns = detail::json(options.unknowns);
        std::string disabled = detail::json(options.disable_inlining);
        solon_filter_options given = solon_filter_options();
        given.size = sizeof given;
        given.targets_json = targets.data();
        given.targets_json_length = targets.size();
        if (!options.unknowns.empty()) {
            given.unknowns_json = unknowns.data();
            given.unknowns_json_length = unknowns.size();
        }
        if (!options.mappings_json.empty()) {
            given.mappings_json = options.mappings_json.data();
            given.mappings_json_length = options.mappings_json.size();
        }
        if (!options.mask_rule.empty()) {
            given.mask_rule = options.mask_rule.data();
            given.mask_rule_length = options.mask_rule.size();
        }
        given.parameters = options.parameters ? 1 : 0;
        given.bare = options.bare ? 1 : 0;
        given.exact = options.exact ? 1 : 0;
        given.disable_inlining_json = disabled.data();
        given.disable_inlining_json_length = disabled.size();
        given.extensions = options.extensions ? 1 : 0;
        return detail::object<solon::filter>([&](solon_filter **out) {
            return solon_engine_prepare_filter(handle_.get(), path.data(), path.size(), &given, out);
        });
    }

    solon_engine *get() noexcept { return handle_.get(); }
    const solon_engine *get() const noexcept { return handle_.get(); }

private:
    /** Options of a bundle in the format of C. */
    struct verification {
        solon_bundle_options given = solon_bundle_options();
        std::vector<solon_verification_key> keys;
        std::string exclude;

        explicit verification(const bundle_options &options) : exclude(detail::json(options.exclude)) {
            for (const verification_key &key : options.keys) {
                keys.push_back({detail::text(key.id), detail::text(key.algorithm), detail::text(key.key), detail::text(key.scope)});
            }
            given.size = sizeof given;
            given.keys = keys.data();
            given.key_count = keys.size();
            given.key_id = options.key_id.data();
            given.key_id_length = options.key_id.size();
            given.scope = options.scope.data();
            given.scope_length = options.scope.size();
            given.exclude_json = exclude.data();
            given.exclude_json_length = exclude.size();
            given.accept_unsigned = options.accept_unsigned ? 1 : 0;
            given.accept_unsigned_deltas = options.accept_unsigned_deltas ? 1 : 0;
            given.skip_verification = options.skip_verification ? 1 : 0;
        }
        verification(const verification &) = delete;
        verification &operator=(const verification &) = delete;
    };

    /** Options of a query in the format of C. */
    struct context {
        solon_query_options given = solon_query_options();
        std::string imports;
        std::string unsafe_builtins;

        explicit context(const query_options &options)
            : imports(detail::json(options.imports)), unsafe_builtins(detail::json(options.unsafe_builtins)) {
            given.size = sizeof given;
            if (!options.package.empty()) {
                given.package = options.package.data();
                given.package_length = options.package.size();
            }
            given.imports_json = imports.data();
            given.imports_json_length = imports.size();
            given.unsafe_builtins_json = unsafe_builtins.data();
            given.unsafe_builtins_json_length = unsafe_builtins.size();
            given.metrics = options.metrics == nullptr ? nullptr : options.metrics->get();
        }
        context(const context &) = delete;
        context &operator=(const context &) = delete;
    };

    detail::handle<solon_engine, solon_engine_free> handle_;
};

inline result<void> change::try_load(const class engine &engine, const std::vector<std::string> &paths, bool bundles) & {
    std::vector<solon_text> texts = detail::texts(paths);
    return result<void>(
        solon_change_load(handle_.get(), engine.get(), texts.data(), texts.size(), nullptr, 0, bundles ? 1 : 0));
}

} // namespace solon

#endif /* SOLON_HPP */
