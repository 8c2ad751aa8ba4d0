#include "common/wire/messages/signature.h"

#include <sodium.h>

#include <charconv>
#include <optional>

namespace carillon {
namespace {

constexpr std::string_view kTargetHeader = "carillon-target";
constexpr std::string_view kIncarnationHeader = "carillon-incarnation";
constexpr std::string_view kExpiresHeader = "carillon-expires-us";
constexpr std::string_view kSignatureHeader = "carillon-signature";
// Part of the signed bytes, so that a signature made for another purpose is never valid here.
constexpr std::string_view kPurpose = "carillon.task.v1";

static_assert(crypto_sign_PUBLICKEYBYTES == 32 && crypto_sign_SECRETKEYBYTES == 64 &&
              crypto_sign_SEEDBYTES == 32 && crypto_sign_BYTES == 64);

void InitSodium() {
  static const bool ready = sodium_init() >= 0;
  CARILLON_CHECK(ready, "libsodium does not initialise");
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string ToHex(std::string_view bytes) {
  std::string hex(bytes.size() * 2 + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), Bytes(bytes), bytes.size());
  hex.pop_back();
  return hex;
}

std::optional<std::string> FromHex(std::string_view hex, size_t size) {
  std::string bytes(size, '\0');
  size_t written = 0;
  if (hex.size() != size * 2 ||
      sodium_hex2bin(reinterpret_cast<unsigned char*>(bytes.data()), size, hex.data(), hex.size(),
                     nullptr, &written, nullptr) != 0 ||
      written != size) {
    return std::nullopt;
  }
  return bytes;
}

// Each part is preceded by its length, so that different lists of parts never give the same bytes.
void AppendPart(std::string& to, std::string_view part) {
  uint64_t size = part.size();
  for (int i = 0; i < 8; ++i, size >>= 8) to.push_back(static_cast<char>(size & 0xFF));
  to.append(part);
}

struct Envelope {
  std::string_view target;
  std::string_view incarnation;
  std::string_view expires_us;
};

std::string SignedBytes(const Envelope& envelope, std::string_view payload) {
  std::string bytes;
  bytes.reserve(payload.size() + 256);
  for (const std::string_view part :
       {kPurpose, envelope.target, envelope.incarnation, envelope.expires_us, payload}) {
    AppendPart(bytes, part);
  }
  return bytes;
}

std::optional<std::string_view> Header(const BusRecord& record, std::string_view name) {
  const auto found = record.headers.find(std::string(name));
  if (found == record.headers.end()) return std::nullopt;
  return found->second;
}

std::optional<WallTime> ParseExpiry(std::string_view text) {
  int64_t us = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), us);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || us < 0) {
    return std::nullopt;
  }
  return FromUnixMicros(us);
}

bool SignedByAny(const std::vector<std::string>& public_keys, std::string_view bytes,
                 std::string_view signature) {
  for (const std::string& key : public_keys) {
    if (VerifySignature(key, bytes, signature)) return true;
  }
  return false;
}

}  // namespace

Signer Signer::FromSeed(const std::array<unsigned char, 32>& seed) {
  InitSodium();
  Signer signer;
  crypto_sign_seed_keypair(signer.public_.data(), signer.secret_.data(), seed.data());
  return signer;
}

Signer Signer::Generate() {
  InitSodium();
  Signer signer;
  crypto_sign_keypair(signer.public_.data(), signer.secret_.data());
  return signer;
}

std::string Signer::public_key() const { return {public_.begin(), public_.end()}; }

std::string Signer::Sign(std::string_view bytes) const {
  std::string signature(crypto_sign_BYTES, '\0');
  crypto_sign_detached(reinterpret_cast<unsigned char*>(signature.data()), nullptr, Bytes(bytes),
                       bytes.size(), secret_.data());
  return signature;
}

bool VerifySignature(std::string_view public_key, std::string_view bytes,
                     std::string_view signature) {
  InitSodium();
  if (public_key.size() != crypto_sign_PUBLICKEYBYTES || signature.size() != crypto_sign_BYTES) {
    return false;
  }
  return crypto_sign_verify_detached(Bytes(signature), Bytes(bytes), bytes.size(),
                                     Bytes(public_key)) == 0;
}

std::optional<SealTarget> TargetOf(const BusRecord& record) {
  const auto target = Header(record, kTargetHeader);
  const auto incarnation = Header(record, kIncarnationHeader);
  if (!target || !incarnation) return std::nullopt;
  return SealTarget{.executor = ExecutorId(std::string(*target)),
                    .incarnation = Incarnation(std::string(*incarnation)),
                    .expires = {}};
}

BusRecord SealTasks(const std::vector<TaskMessage>& tasks, const SealTarget& target,
                    const Signer& signer, BusFormat format) {
  const std::string expires_us = std::to_string(ToUnixMicros(target.expires));
  BusRecord record{.payload = EncodeTasks(tasks, format)};
  const std::string bytes = SignedBytes(
      {target.executor.value(), target.incarnation.value(), expires_us}, record.payload);
  record.headers = {{std::string(kTargetHeader), target.executor.value()},
                    {std::string(kIncarnationHeader), target.incarnation.value()},
                    {std::string(kExpiresHeader), expires_us},
                    {std::string(kSignatureHeader), ToHex(signer.Sign(bytes))}};
  return record;
}

std::string_view Name(Rejection rejection) {
  switch (rejection) {
    case Rejection::kNone: return "none";
    case Rejection::kOtherExecutor: return "other_executor";
    case Rejection::kBadHeaders: return "bad_headers";
    case Rejection::kBadSignature: return "bad_signature";
    case Rejection::kExpired: return "expired";
    case Rejection::kOtherIncarnation: return "other_incarnation";
    case Rejection::kCorrupt: return "corrupt";
  }
  return "unknown";
}

OpenedTasks OpenTasks(const BusRecord& record, const ExecutorId& self,
                      const Incarnation& incarnation, WallTime now,
                      const std::vector<std::string>& public_keys) {
  const auto target = Header(record, kTargetHeader);
  if (!target) return {.rejection = Rejection::kBadHeaders};
  if (*target != self.value()) return {.rejection = Rejection::kOtherExecutor};
  const auto for_incarnation = Header(record, kIncarnationHeader);
  const auto expires_us = Header(record, kExpiresHeader);
  const auto signature_hex = Header(record, kSignatureHeader);
  if (!for_incarnation || !expires_us || !signature_hex) {
    return {.rejection = Rejection::kBadHeaders};
  }
  const auto expires = ParseExpiry(*expires_us);
  const auto signature = FromHex(*signature_hex, crypto_sign_BYTES);
  if (!expires || !signature) return {.rejection = Rejection::kBadHeaders};
  if (*for_incarnation != incarnation.value()) return {.rejection = Rejection::kOtherIncarnation};
  if (now >= *expires) return {.rejection = Rejection::kExpired};
  const std::string bytes = SignedBytes({*target, *for_incarnation, *expires_us}, record.payload);
  if (!SignedByAny(public_keys, bytes, *signature)) {
    return {.rejection = Rejection::kBadSignature};
  }
  OpenedTasks opened;
  auto tasks = DecodeTasks(record.payload, &opened.unreadable);
  if (!tasks.ok()) return {.rejection = Rejection::kCorrupt};
  opened.tasks = std::move(tasks).value();
  return opened;
}

}  // namespace carillon
