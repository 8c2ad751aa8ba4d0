// References to the fields of any aggregate, and their names. So a new field of a port's struct is
// compared and printed without being listed anywhere.
//
// Limits   Structs without a constructor and without base classes, with at most 64 fields.
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace carillon::test::fields {

inline constexpr size_t kFieldsMax = 64;

struct AnyValue {
  template <typename T>
  operator T() const noexcept;  // NOLINT: implicit by design; never defined
};

template <typename T, size_t... I>
constexpr bool TakesFields(std::index_sequence<I...>) {
  return requires { T{((void)I, AnyValue{})...}; };
}

template <typename T, size_t N = kFieldsMax>
constexpr size_t CountFields() {
  if constexpr (N == 0 || TakesFields<T>(std::make_index_sequence<N>())) {
    return N;
  } else {
    return CountFields<T, N - 1>();
  }
}

// clang-format off
#define CARILLON_FIELDS_1 f1
#define CARILLON_FIELDS_2 CARILLON_FIELDS_1, f2
#define CARILLON_FIELDS_3 CARILLON_FIELDS_2, f3
#define CARILLON_FIELDS_4 CARILLON_FIELDS_3, f4
#define CARILLON_FIELDS_5 CARILLON_FIELDS_4, f5
#define CARILLON_FIELDS_6 CARILLON_FIELDS_5, f6
#define CARILLON_FIELDS_7 CARILLON_FIELDS_6, f7
#define CARILLON_FIELDS_8 CARILLON_FIELDS_7, f8
#define CARILLON_FIELDS_9 CARILLON_FIELDS_8, f9
#define CARILLON_FIELDS_10 CARILLON_FIELDS_9, f10
#define CARILLON_FIELDS_11 CARILLON_FIELDS_10, f11
#define CARILLON_FIELDS_12 CARILLON_FIELDS_11, f12
#define CARILLON_FIELDS_13 CARILLON_FIELDS_12, f13
#define CARILLON_FIELDS_14 CARILLON_FIELDS_13, f14
#define CARILLON_FIELDS_15 CARILLON_FIELDS_14, f15
#define CARILLON_FIELDS_16 CARILLON_FIELDS_15, f16
#define CARILLON_FIELDS_17 CARILLON_FIELDS_16, f17
#define CARILLON_FIELDS_18 CARILLON_FIELDS_17, f18
#define CARILLON_FIELDS_19 CARILLON_FIELDS_18, f19
#define CARILLON_FIELDS_20 CARILLON_FIELDS_19, f20
#define CARILLON_FIELDS_21 CARILLON_FIELDS_20, f21
#define CARILLON_FIELDS_22 CARILLON_FIELDS_21, f22
#define CARILLON_FIELDS_23 CARILLON_FIELDS_22, f23
#define CARILLON_FIELDS_24 CARILLON_FIELDS_23, f24
#define CARILLON_FIELDS_25 CARILLON_FIELDS_24, f25
#define CARILLON_FIELDS_26 CARILLON_FIELDS_25, f26
#define CARILLON_FIELDS_27 CARILLON_FIELDS_26, f27
#define CARILLON_FIELDS_28 CARILLON_FIELDS_27, f28
#define CARILLON_FIELDS_29 CARILLON_FIELDS_28, f29
#define CARILLON_FIELDS_30 CARILLON_FIELDS_29, f30
#define CARILLON_FIELDS_31 CARILLON_FIELDS_30, f31
#define CARILLON_FIELDS_32 CARILLON_FIELDS_31, f32
#define CARILLON_FIELDS_33 CARILLON_FIELDS_32, f33
#define CARILLON_FIELDS_34 CARILLON_FIELDS_33, f34
#define CARILLON_FIELDS_35 CARILLON_FIELDS_34, f35
#define CARILLON_FIELDS_36 CARILLON_FIELDS_35, f36
#define CARILLON_FIELDS_37 CARILLON_FIELDS_36, f37
#define CARILLON_FIELDS_38 CARILLON_FIELDS_37, f38
#define CARILLON_FIELDS_39 CARILLON_FIELDS_38, f39
#define CARILLON_FIELDS_40 CARILLON_FIELDS_39, f40
#define CARILLON_FIELDS_41 CARILLON_FIELDS_40, f41
#define CARILLON_FIELDS_42 CARILLON_FIELDS_41, f42
#define CARILLON_FIELDS_43 CARILLON_FIELDS_42, f43
#define CARILLON_FIELDS_44 CARILLON_FIELDS_43, f44
#define CARILLON_FIELDS_45 CARILLON_FIELDS_44, f45
#define CARILLON_FIELDS_46 CARILLON_FIELDS_45, f46
#define CARILLON_FIELDS_47 CARILLON_FIELDS_46, f47
#define CARILLON_FIELDS_48 CARILLON_FIELDS_47, f48
#define CARILLON_FIELDS_49 CARILLON_FIELDS_48, f49
#define CARILLON_FIELDS_50 CARILLON_FIELDS_49, f50
#define CARILLON_FIELDS_51 CARILLON_FIELDS_50, f51
#define CARILLON_FIELDS_52 CARILLON_FIELDS_51, f52
#define CARILLON_FIELDS_53 CARILLON_FIELDS_52, f53
#define CARILLON_FIELDS_54 CARILLON_FIELDS_53, f54
#define CARILLON_FIELDS_55 CARILLON_FIELDS_54, f55
#define CARILLON_FIELDS_56 CARILLON_FIELDS_55, f56
#define CARILLON_FIELDS_57 CARILLON_FIELDS_56, f57
#define CARILLON_FIELDS_58 CARILLON_FIELDS_57, f58
#define CARILLON_FIELDS_59 CARILLON_FIELDS_58, f59
#define CARILLON_FIELDS_60 CARILLON_FIELDS_59, f60
#define CARILLON_FIELDS_61 CARILLON_FIELDS_60, f61
#define CARILLON_FIELDS_62 CARILLON_FIELDS_61, f62
#define CARILLON_FIELDS_63 CARILLON_FIELDS_62, f63
#define CARILLON_FIELDS_64 CARILLON_FIELDS_63, f64
// clang-format on

#define CARILLON_FIELDS_CASE(n)           \
  if constexpr (count == n) {             \
    auto& [CARILLON_FIELDS_##n] = value;  \
    return std::tie(CARILLON_FIELDS_##n); \
  } else

// Returns references to all fields, in their order.
template <typename T>
constexpr auto TieFields(T& value) {
  constexpr size_t count = CountFields<std::remove_const_t<T>>();
  static_assert(count > 0, "no aggregate, or one with too many fields");
  // clang-format off
  CARILLON_FIELDS_CASE(1) CARILLON_FIELDS_CASE(2) CARILLON_FIELDS_CASE(3)
  CARILLON_FIELDS_CASE(4) CARILLON_FIELDS_CASE(5) CARILLON_FIELDS_CASE(6)
  CARILLON_FIELDS_CASE(7) CARILLON_FIELDS_CASE(8) CARILLON_FIELDS_CASE(9)
  CARILLON_FIELDS_CASE(10) CARILLON_FIELDS_CASE(11) CARILLON_FIELDS_CASE(12)
  CARILLON_FIELDS_CASE(13) CARILLON_FIELDS_CASE(14) CARILLON_FIELDS_CASE(15)
  CARILLON_FIELDS_CASE(16) CARILLON_FIELDS_CASE(17) CARILLON_FIELDS_CASE(18)
  CARILLON_FIELDS_CASE(19) CARILLON_FIELDS_CASE(20) CARILLON_FIELDS_CASE(21)
  CARILLON_FIELDS_CASE(22) CARILLON_FIELDS_CASE(23) CARILLON_FIELDS_CASE(24)
  CARILLON_FIELDS_CASE(25) CARILLON_FIELDS_CASE(26) CARILLON_FIELDS_CASE(27)
  CARILLON_FIELDS_CASE(28) CARILLON_FIELDS_CASE(29) CARILLON_FIELDS_CASE(30)
  CARILLON_FIELDS_CASE(31) CARILLON_FIELDS_CASE(32) CARILLON_FIELDS_CASE(33)
  CARILLON_FIELDS_CASE(34) CARILLON_FIELDS_CASE(35) CARILLON_FIELDS_CASE(36)
  CARILLON_FIELDS_CASE(37) CARILLON_FIELDS_CASE(38) CARILLON_FIELDS_CASE(39)
  CARILLON_FIELDS_CASE(40) CARILLON_FIELDS_CASE(41) CARILLON_FIELDS_CASE(42)
  CARILLON_FIELDS_CASE(43) CARILLON_FIELDS_CASE(44) CARILLON_FIELDS_CASE(45)
  CARILLON_FIELDS_CASE(46) CARILLON_FIELDS_CASE(47) CARILLON_FIELDS_CASE(48)
  CARILLON_FIELDS_CASE(49) CARILLON_FIELDS_CASE(50) CARILLON_FIELDS_CASE(51)
  CARILLON_FIELDS_CASE(52) CARILLON_FIELDS_CASE(53) CARILLON_FIELDS_CASE(54)
  CARILLON_FIELDS_CASE(55) CARILLON_FIELDS_CASE(56) CARILLON_FIELDS_CASE(57)
  CARILLON_FIELDS_CASE(58) CARILLON_FIELDS_CASE(59) CARILLON_FIELDS_CASE(60)
  CARILLON_FIELDS_CASE(61) CARILLON_FIELDS_CASE(62) CARILLON_FIELDS_CASE(63)
  CARILLON_FIELDS_CASE(64)
  { return std::tuple<>(); }
  // clang-format on
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wundefined-var-template"
// Never defined: only the addresses of its fields are named.
template <typename T>
extern T kSome;

template <auto* kField>
consteval std::string_view TextOf() {
  return __PRETTY_FUNCTION__;
}

// The name of field number `I`, as in the source.
template <typename T, size_t I>
consteval std::string_view NameOfField() {
  constexpr std::string_view text = TextOf<&std::get<I>(TieFields(kSome<T>))>();
  constexpr std::string_view path = text.substr(text.find("kSome"));
  constexpr std::string_view whole = path.substr(0, path.find_first_of(")];"));
  return whole.substr(whole.find_last_of(".:") + 1);
}
#pragma GCC diagnostic pop

}  // namespace carillon::test::fields
