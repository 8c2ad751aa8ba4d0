// Random numbers from a seed (SplitMix64). The generator is always a parameter of the code that
// needs it, so that a simulation can be replayed.
//
// Threads  Not thread-safe; one owner. Fork() makes an independent stream.
#pragma once

#include <cstdint>

namespace carillon {

class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // Uniform in [0, bound); bound > 0. The bias of the modulo is below 2^-32 for bounds in use.
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  // True with probability `p` in [0, 1].
  bool Chance(double p) { return static_cast<double>(Next() >> 11) * 0x1.0p-53 < p; }
  Rng Fork() { return Rng(Next()); }

 private:
  uint64_t state_;
};

}  // namespace carillon
