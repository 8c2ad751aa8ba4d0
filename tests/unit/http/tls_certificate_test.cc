#include "common/adapters/http/tls_certificate.h"

#include <gtest/gtest.h>

#include "tests/support/certificate_files.h"

namespace carillon::test {
namespace {

class TlsCertificateTest : public ::testing::Test {
 protected:
  void Put(Duration life) { files_.Issue("server", "server", {"127.0.0.1"}, life); }
  Result<std::unique_ptr<TlsCertificate>> Load() {
    return TlsCertificate::Load(
        {.certificate_file = files_.Path("server.crt"), .key_file = files_.Path("server.key")},
        clock_);
  }

  SystemClock clock_;
  const CertificateFiles files_;
};

TEST_F(TlsCertificateTest, AnotherOneIsTakenAndSaysWhenItEnds) {
  Put(1h);
  const auto certificate = Load();
  ASSERT_TRUE(certificate.ok()) << certificate.error().message;
  const WallTime first = (*certificate)->until();
  const auto context = (*certificate)->context();
  Put(2h);
  EXPECT_TRUE((*certificate)->Reload().ok());
  EXPECT_GE((*certificate)->until() - first, 59min);
  EXPECT_NE((*certificate)->context(), context);
}

TEST_F(TlsCertificateTest, OneThatHasEndedDoesNotTakeThePlaceOfOneThatHasNot) {
  Put(1h);
  const auto certificate = Load();
  ASSERT_TRUE(certificate.ok()) << certificate.error().message;
  const auto context = (*certificate)->context();
  Put(-1min);
  const Status refused = (*certificate)->Reload();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("ended at 20"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ((*certificate)->context(), context);
  Put(3h);
  EXPECT_TRUE((*certificate)->Reload().ok());
}

// Whoever ignores the date goes on, and the log says why the others do not.
TEST_F(TlsCertificateTest, AtTheStartOneThatHasEndedIsBetterThanNone) {
  Put(-1min);
  const auto certificate = Load();
  ASSERT_TRUE(certificate.ok()) << certificate.error().message;
  EXPECT_LT((*certificate)->until(), clock_.Wall());
}

}  // namespace
}  // namespace carillon::test
