import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Date;
import java.util.TimeZone;
import org.quartz.CronExpression;

/**
 * Prints the fires of cron expressions as Quartz computes them. A line of standard input is
 * ZONE, AFTER (seconds since 1970), COUNT and EXPRESSION with tabs between; its answer is the
 * fires as seconds, or "error" and the reason.
 */
public final class QuartzFires {
  public static void main(String[] arguments) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    StringBuilder out = new StringBuilder();
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] parts = line.split("\t", 4);
      try {
        CronExpression expression = new CronExpression(parts[3]);
        expression.setTimeZone(TimeZone.getTimeZone(parts[0]));
        Date fire = new Date(Long.parseLong(parts[1]) * 1000);
        for (int i = Integer.parseInt(parts[2]); i > 0; --i) {
          fire = expression.getNextValidTimeAfter(fire);
          if (fire == null) break;
          out.append(fire.getTime() / 1000).append(' ');
        }
      } catch (Exception e) {
        out.append("error ").append(e.getMessage());
      }
      out.append('\n');
    }
    System.out.print(out);
  }

  private QuartzFires() {}
}
