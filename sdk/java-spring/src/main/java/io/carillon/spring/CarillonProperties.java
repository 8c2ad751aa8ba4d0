package io.carillon.spring;

import org.springframework.boot.context.properties.ConfigurationProperties;

/** The properties {@code carillon.worker.*} of an application. */
@ConfigurationProperties("carillon.worker")
public class CarillonProperties {
  /** Whether to offer the handlers of this application. */
  private boolean enabled = true;

  /**
   * Name before the slash in the handler of a job: [a-z0-9][a-z0-9_-]{0,62}. The default is
   * spring.application.name.
   */
  private String app;

  /**
   * Version of the application that Carillon's console shows, up to 64 bytes. The default is
   * spring.application.version, which Spring Boot 3.4 and newer read from the application's jar.
   */
  private String version;

  /**
   * Unix socket of the executor on this host. The default is the environment variable
   * CARILLON_WORKER_SOCKET, and without it /run/carillon/worker.sock.
   */
  private String socket;

  /** Whether the log of a run has what its thread logs by Logback, too. */
  private boolean captureLogs = true;

  public boolean isEnabled() {
    return enabled;
  }

  public void setEnabled(boolean enabled) {
    this.enabled = enabled;
  }

  public String getApp() {
    return app;
  }

  public void setApp(String app) {
    this.app = app;
  }

  public String getVersion() {
    return version;
  }

  public void setVersion(String version) {
    this.version = version;
  }

  public String getSocket() {
    return socket;
  }

  public void setSocket(String socket) {
    this.socket = socket;
  }

  public boolean isCaptureLogs() {
    return captureLogs;
  }

  public void setCaptureLogs(boolean captureLogs) {
    this.captureLogs = captureLogs;
  }
}
