package io.carillon.worker;

/**
 * A function that runs as attempts of handler jobs. It may be called by several threads at once.
 */
@FunctionalInterface
public interface HandlerFunction {
  /**
   * Runs one attempt.
   *
   * @return the outputs; null means {@link Outputs#none()}
   * @throws Exception if the attempt failed; a {@link StoppedException} if it stopped as asked
   */
  Outputs run(Run run) throws Exception;
}
