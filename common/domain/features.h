// The abilities of an executor beyond shell commands. A run goes only to executors that have all
// features that its job needs.
//
// Wire     Heartbeat.features has bit n for the feature with the value n. The values never change;
//          bits that this version does not know are dropped.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace carillon {

enum class Feature : uint8_t {
  kSecrets = 0,  // Task.secret_env
  kScriptSh = 1,
  kScriptBash = 2,
  kScriptPython3 = 3,
  kScriptPerl = 4,
  kScriptNode = 5,
  kScriptPhp = 6,
  kScriptPwsh = 7,
  kHttp = 8,
  kHttpExtended = 9,  // HttpCall.poll, client_certificate, null, a Host of its own
  kLimits = 16,       // Task.limits; enforces open_files and file_size_mb
  kMemoryLimit = 17,  // Limits.memory_mb, and likewise the next two
  kCpuLimit = 18,
  kPidsLimit = 19,
  kRunAs = 20,             // Task.run_as
  kWorkingDirectory = 21,  // Task.working_directory
  kOutputEncoding = 22,    // Task.output_encoding
  kCheckpoints = 24,       // ClaimAnswer.checkpoint
  kContainer = 25,         // Task.container
  kErrorCodes = 28,        // TaskResult.error_code
  kShards = 29,            // a run_id with a shard above 0; Task.shard_index
};
// Stable, as in REST: "secrets", "script:python3", …
std::string_view Name(Feature feature);

class Features {
 public:
  constexpr Features() = default;
  constexpr Features(std::initializer_list<Feature> all) {
    for (const Feature feature : all) Add(feature);
  }
  static Features FromBits(uint64_t bits);

  constexpr void Add(Feature feature) { bits_ |= BitOf(feature); }
  constexpr void Remove(Feature feature) { bits_ &= ~BitOf(feature); }
  constexpr bool Has(Feature feature) const { return (bits_ & BitOf(feature)) != 0; }
  constexpr bool HasAll(Features needed) const { return (needed.bits_ & ~bits_) == 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint64_t bits() const { return bits_; }
  Features With(Features other) const { return FromBits(bits_ | other.bits_); }
  // Those of this set that `other` lacks.
  Features Without(Features other) const { return FromBits(bits_ & ~other.bits_); }
  std::vector<std::string_view> Names() const;

  auto operator<=>(const Features&) const = default;

 private:
  static constexpr uint64_t BitOf(Feature feature) {
    return uint64_t{1} << static_cast<unsigned>(feature);
  }
  uint64_t bits_ = 0;
};

}  // namespace carillon
