#include "common/domain/event/event.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace carillon::test {
namespace {

std::string OriginRefusedAt(const EventOrigin& origin) {
  const Status status = CheckOrigin(origin);
  if (status.ok()) return "";
  EXPECT_EQ(status.code(), ErrorCode::kInvalid);
  EXPECT_FALSE(status.error().message.empty());
  return status.error().pointer;
}

EventOrigin UsualOrigin() { return {.id = "42", .source = "shop", .type = "order.paid"}; }

TEST(EventTest, AnOriginHasAllNamesButASubject) {
  EXPECT_EQ(OriginRefusedAt(UsualOrigin()), "");
  EventOrigin origin = UsualOrigin();
  origin.id = "";
  EXPECT_EQ(OriginRefusedAt(origin), "/id");
  origin = UsualOrigin();
  origin.source = "";
  EXPECT_EQ(OriginRefusedAt(origin), "/source");
  origin = UsualOrigin();
  origin.type = "";
  EXPECT_EQ(OriginRefusedAt(origin), "/type");
}

TEST(EventTest, EachNameHasItsBound) {
  struct Field {
    std::string EventOrigin::*text;
    size_t bytes_max;
    std::string pointer;
  };
  const std::vector<Field> fields{{&EventOrigin::id, 256, "/id"},
                                  {&EventOrigin::source, 512, "/source"},
                                  {&EventOrigin::type, 255, "/type"},
                                  {&EventOrigin::subject, 512, "/subject"}};
  for (const Field& field : fields) {
    EventOrigin origin = UsualOrigin();
    origin.*field.text = std::string(field.bytes_max, 'x');
    EXPECT_EQ(OriginRefusedAt(origin), "");
    (origin.*field.text) += 'x';
    EXPECT_EQ(OriginRefusedAt(origin), field.pointer);
    for (const std::string& bad : {std::string("a\nb"), std::string("a\0b", 3), std::string("\x7f"),
                                   std::string("\xff"), std::string("\t"), std::string("\xc3")}) {
      origin.*field.text = bad;
      EXPECT_EQ(OriginRefusedAt(origin), field.pointer) << testing::PrintToString(bad);
    }
    origin.*field.text = "Größe */ {{x}} \"";
    EXPECT_EQ(OriginRefusedAt(origin), "");
  }
}

}  // namespace
}  // namespace carillon::test
