#include "common/adapters/http/tls_certificate.h"

#include <gtest/gtest.h>

#include "tests/support/certificate_files.h"
#include "tests/support/manual_clock.h"

namespace carillon::test {
namespace {

class TlsCertificateTest : public ::testing::Test {
 protected:
  void Put(Duration life) { files_.Issue("server", "server", {"127.0.0.1"}, life); }
  Result<std::unique_ptr<TlsCertificate>> Load() { return Load(clock_); }
  Result<std::unique_ptr<TlsCertificate>> Load(const Clock& clock) {
    return TlsCertificate::Load(
        {.certificate_file = files_.Path("server.crt"), .key_file = files_.Path("server.key")},
        clock);
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

// A certificate may be issued for tomorrow, or this host's clock may be behind. It is used as soon
// as it is valid.
TEST_F(TlsCertificateTest, OneThatIsNotValidYetIsTakenWhenItIs) {
  ManualClock clock(CertificateFiles::Now());
  Put(4h);
  const auto certificate = Load(clock);
  ASSERT_TRUE(certificate.ok()) << certificate.error().message;
  const auto context = (*certificate)->context();
  clock.StepWall(-2h);
  Put(8h);
  for (int i = 0; i < 2; ++i) {
    const Status refused = (*certificate)->Reload();
    ASSERT_FALSE(refused.ok()) << "look " << i;
    EXPECT_NE(refused.error().message.find("is valid from"), std::string::npos);
    EXPECT_EQ((*certificate)->context(), context);
  }
  clock.StepWall(2h);
  EXPECT_TRUE((*certificate)->Reload().ok());
  EXPECT_NE((*certificate)->context(), context);
}

// The two files are replaced one after the other. In between they do not match, and the process
// must check them again.
TEST_F(TlsCertificateTest, AKeyThatIsNotTheCertificatesIsLookedAtAgain) {
  Put(1h);
  const auto certificate = Load();
  ASSERT_TRUE(certificate.ok()) << certificate.error().message;
  const auto context = (*certificate)->context();
  files_.Issue("next", "server");
  std::filesystem::copy_file(files_.Path("next.crt"), files_.Path("server.crt"),
                             std::filesystem::copy_options::overwrite_existing);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ((*certificate)->Reload().code(), ErrorCode::kUnavailable) << "look " << i;
    EXPECT_EQ(Load().code(), ErrorCode::kUnavailable) << "a start in between may be tried again";
  }
  std::filesystem::copy_file(files_.Path("next.key"), files_.Path("server.key"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE((*certificate)->Reload().ok());
  EXPECT_NE((*certificate)->context(), context);
}

// An expired certificate is used: clients that ignore the date still work, and the log shows why
// the others do not.
TEST_F(TlsCertificateTest, AtTheStartOneThatHasEndedIsBetterThanNone) {
  Put(-1min);
  const auto certificate = Load();
  ASSERT_TRUE(certificate.ok()) << certificate.error().message;
  EXPECT_LT((*certificate)->until(), clock_.Wall());
}

}  // namespace
}  // namespace carillon::test
