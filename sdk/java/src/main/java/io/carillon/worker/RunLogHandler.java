package io.carillon.worker;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.logging.ErrorManager;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.LogRecord;

/**
 * Writes the records of {@code java.util.logging} to the log of the run whose function logs them,
 * and nowhere outside of runs.
 *
 * <pre>{@code
 * Logger.getLogger("").addHandler(new RunLogHandler());
 * }</pre>
 */
public final class RunLogHandler extends Handler {
  /** Makes a handler for all levels, with lines such as "WARNING ledger: no such account". */
  public RunLogHandler() {
    setFormatter(new Line());
  }

  @Override
  public void publish(LogRecord record) {
    Run run = Run.current();
    if (run == null || !isLoggable(record)) {
      return;
    }
    try {
      run.print(getFormatter().format(record));
    } catch (RuntimeException e) { // a record that cannot be formatted must not fail the function
      reportError(null, e, ErrorManager.FORMAT_FAILURE);
    }
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}

  private static final class Line extends Formatter {
    @Override
    public String format(LogRecord record) {
      StringWriter text = new StringWriter();
      PrintWriter out = new PrintWriter(text);
      out.println(
          record.getLevel().getName()
              + " "
              + record.getLoggerName()
              + ": "
              + formatMessage(record));
      if (record.getThrown() != null) {
        record.getThrown().printStackTrace(out);
      }
      out.flush();
      return text.toString();
    }
  }
}
