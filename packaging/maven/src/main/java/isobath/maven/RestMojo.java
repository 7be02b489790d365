package isobath.maven;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Tests the packaged service white-box, and fails the build on findings. */
@Mojo(name = "rest", defaultPhase = LifecyclePhase.INTEGRATION_TEST, threadSafe = true)
public final class RestMojo extends AbstractMojo {
  /** The program. */
  @Parameter(property = "isobath.program", defaultValue = "isobath")
  private String program;

  /** OpenAPI document: a file or a URL of the service. */
  @Parameter(property = "isobath.spec", required = true)
  private String spec;

  /** Jar or war of the service. */
  @Parameter(
      property = "isobath.jar",
      defaultValue = "${project.build.directory}/${project.build.finalName}.${project.packaging}")
  private File jar;

  /** Budget of the search, such as 60s or 10000calls. */
  @Parameter(property = "isobath.budget", defaultValue = "60s")
  private String budget;

  /** Output directory for suites and reports. */
  @Parameter(property = "isobath.out", defaultValue = "${project.build.directory}/isobath")
  private File out;

  /** More arguments of `isobath rest`. */
  @Parameter(property = "isobath.arguments")
  private List<String> arguments = Collections.emptyList();

  /** Does nothing if set. */
  @Parameter(property = "isobath.skip", defaultValue = "false")
  private boolean skip;

  @Parameter(defaultValue = "${project.basedir}", readonly = true)
  private File folder;

  @Override
  public void execute() throws MojoExecutionException, MojoFailureException {
    if (skip) {
      getLog().info("isobath: skipped");
      return;
    }
    if (!jar.isFile()) {
      throw new MojoExecutionException(jar + " does not exist; run `mvn package isobath:rest`");
    }
    List<String> command = new ArrayList<>();
    Collections.addAll(command, program, "rest", spec, "--jvm", jar.getPath());
    Collections.addAll(command, "--budget", budget, "--out", out.getPath());
    command.addAll(arguments);
    getLog().info(String.join(" ", command));
    int code = run(command);
    if (code == 1) {
      throw new MojoFailureException("the service has faults: see " + new File(out, "report.html"));
    }
    if (code != 0) {
      throw new MojoExecutionException("isobath ended with exit code " + code);
    }
  }

  private int run(List<String> command) throws MojoExecutionException {
    try {
      return new ProcessBuilder(command).directory(folder).inheritIO().start().waitFor();
    } catch (IOException error) {
      throw new MojoExecutionException("cannot start " + program + "; install it or set isobath.program", error);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      throw new MojoExecutionException("interrupted", error);
    }
  }
}
