package io.carillon.spring;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import io.carillon.worker.Run;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/**
 * Writes what a handler's thread logs by Logback to the log of its run as well. Outside of runs it
 * does nothing, so it stays when a context ends, because another one may need it.
 */
final class RunAppender extends AppenderBase<ILoggingEvent> {
  private static final String NAME = "carillon";

  /** Adds the appender to the root logger, unless it is there or another library logs. */
  static synchronized void install() {
    ILoggerFactory factory = LoggerFactory.getILoggerFactory();
    if (!(factory instanceof LoggerContext)) {
      return;
    }
    LoggerContext context = (LoggerContext) factory;
    Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    if (root.getAppender(NAME) == null) {
      RunAppender appender = new RunAppender();
      appender.setContext(context);
      appender.setName(NAME);
      appender.start();
      root.addAppender(appender);
    }
  }

  @Override
  protected void append(ILoggingEvent event) {
    Run run = Run.current();
    if (run == null) {
      return;
    }
    String line =
        event.getLevel() + " " + event.getLoggerName() + ": " + event.getFormattedMessage();
    IThrowableProxy thrown = event.getThrowableProxy();
    run.print(thrown == null ? line : line + "\n" + ThrowableProxyUtil.asString(thrown));
  }
}
