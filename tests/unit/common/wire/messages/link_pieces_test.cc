#include "common/wire/messages/link_pieces.h"

#include <gtest/gtest.h>

#include "carillon/v1/control.pb.h"
#include "common/wire/messages/control_codec.h"

namespace carillon {
namespace {

std::string Piece(size_t bytes, bool last) {
  v1::ToExecutor message;
  message.mutable_piece()->set_bytes(std::string(bytes, 'x'));
  message.mutable_piece()->set_last(last);
  return message.SerializeAsString();
}

TEST(LinkPiecesTest, PiecesAreSmallAndComeTogetherAgain) {
  for (const size_t size :
       {size_t{0}, size_t{1}, kPieceBytes, kPieceBytes + 1, 10 * kPieceBytes + 7}) {
    std::string message(size, 'm');
    for (size_t i = 0; i < size; ++i) message[i] = static_cast<char>(i * 31 >> 4);
    const auto pieces = CutIntoPieces(message);
    EXPECT_EQ(pieces.size(), std::max<size_t>(1, (size + kPieceBytes - 1) / kPieceBytes));
    PieceJoiner joiner;
    for (size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_LE(pieces[i].size(), kPieceBytes + 32);
      const auto taken = joiner.Take(pieces[i]);
      ASSERT_TRUE(taken.ok());
      EXPECT_EQ(taken->has_value(), i + 1 == pieces.size());
      EXPECT_EQ(taken->value_or(message), message);
    }
  }
}

TEST(LinkPiecesTest, OtherMessagesPassBetweenThePieces) {
  const std::string beat = EncodeFromExecutor(Heartbeat{.sent_us = 5});
  const std::string welcome = EncodeWelcome({MemberId("m1"), std::string(32, 'k'), true});
  PieceJoiner joiner;
  ASSERT_EQ(joiner.Take(Piece(3, false)).value(), std::nullopt);
  EXPECT_EQ(joiner.Take(beat).value(), beat);
  EXPECT_EQ(joiner.Take(welcome).value(), welcome);
  EXPECT_EQ(joiner.Take("").value(), "");
  EXPECT_EQ(joiner.Take(Piece(2, true)).value(), "xxxxx");
  EXPECT_EQ(joiner.Take(Piece(1, true)).value(), "x");
}

TEST(LinkPiecesTest, APieceThatIsNoneAndTooManyAreCorrupt) {
  PieceJoiner joiner;
  EXPECT_EQ(joiner.Take(Piece(1, false).substr(0, 2) + "\xff").code(), ErrorCode::kCorrupt);
  EXPECT_EQ(joiner.Take(Piece(kPieceBytes + 1, true)).code(), ErrorCode::kCorrupt);
  size_t taken = 0;
  while (joiner.Take(Piece(kPieceBytes, false)).ok()) ++taken;
  EXPECT_EQ(taken, (size_t{16} << 20) / kPieceBytes);
}

TEST(LinkPiecesTest, APieceIsNoMessageByItself) {
  EXPECT_EQ(DecodeFromExecutor(Piece(1, true), ExecutorId("e"), Incarnation("i")).code(),
            ErrorCode::kCorrupt);
  EXPECT_EQ(DecodeToExecutor(Piece(1, true)).code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace carillon
