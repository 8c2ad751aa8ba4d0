#include "common/wire/messages/link_pieces.h"

#include <algorithm>
#include <utility>

#include "common/wire/messages/control_parts.h"
#include "common/wire/messages/decode_checks.h"

namespace carillon {
namespace {

constexpr int kField = v1::FromExecutor::kPieceFieldNumber;
static_assert(kField == v1::ToExecutor::kPieceFieldNumber,
              "a piece looks the same in both directions");

// A message has one field, and begins with its tag: the number of the field, and 2 for bytes
// that follow.
constexpr int kTag = kField << 3 | 2;
static_assert(kTag >= 1 << 7 && kTag < 1 << 14, "a tag of two bytes");
constexpr char kTagBytes[] = {static_cast<char>((kTag & 0x7f) | 0x80),
                              static_cast<char>(kTag >> 7)};

bool IsPiece(std::string_view bytes) {
  return bytes.starts_with(std::string_view(kTagBytes, sizeof(kTagBytes)));
}

}  // namespace

std::vector<std::string> CutIntoPieces(std::string_view message) {
  std::vector<std::string> pieces;
  for (size_t from = 0; from < message.size() || pieces.empty(); from += kPieceBytes) {
    const std::string_view part = message.substr(from, kPieceBytes);
    v1::FromExecutor carrier;
    carrier.mutable_piece()->set_bytes(part.data(), part.size());
    carrier.mutable_piece()->set_last(from + part.size() >= message.size());
    pieces.push_back(carrier.SerializeAsString());
  }
  return pieces;
}

Result<std::optional<std::string>> PieceJoiner::Take(std::string bytes) {
  if (!IsPiece(bytes)) return std::optional(std::move(bytes));
  wire::SilenceProtobuf();
  v1::FromExecutor carrier;
  if (!carrier.ParseFromArray(bytes.data(),
                              static_cast<int>(std::min(bytes.size(), wire::kControlBytesMax))) ||
      !carrier.has_piece()) {
    return wire::BadMessage("piece");
  }
  const v1::Piece& piece = carrier.piece();
  if (piece.bytes().size() > kPieceBytes ||
      begun_.size() + piece.bytes().size() > wire::kControlBytesMax) {
    return wire::BadMessage("too many bytes in pieces");
  }
  begun_ += piece.bytes();
  if (!piece.last()) return std::optional<std::string>();
  return std::optional(std::exchange(begun_, {}));
}

}  // namespace carillon
