//! Services as frameworks pack them: the agent finds their classes, and theirs alone.

use super::awkward::{MAIN, Shop, tool};
use super::*;

/// Loads the service from `app` and its libraries from `lib/main`, as the launcher of Quarkus does.
const LAUNCHER: &str = r#"
package launcher;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

public class Main {
    public static void main(String[] arguments) throws Exception {
        File home = new File(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI()).getParentFile();
        List<URL> jars = new ArrayList<>();
        for (String folder : new String[] {"app", "lib/main"}) {
            for (File jar : new File(home, folder).listFiles()) {
                jars.add(jar.toURI().toURL());
            }
        }
        ClassLoader loader = new URLClassLoader(jars.toArray(new URL[0]));
        Thread.currentThread().setContextClassLoader(loader);
        loader.loadClass("shop.Main").getMethod("main", String[].class).invoke(null, (Object) arguments);
    }
}
"#;

const LIBRARY: &str = "package tools; public class Tool { public static int twice(int n) { return n > 0 ? 2 * n : 0; } }";

#[test]
fn a_service_in_the_layout_of_quarkus_is_instrumented_and_its_launcher_and_libraries_are_not() {
    if !is_built() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (name, text) in [
        ("shop/Main.java", MAIN),
        ("launcher/Main.java", LAUNCHER),
        ("tools/Tool.java", LIBRARY),
    ] {
        let file = at.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(&file, text).expect("a file");
    }
    for inner in ["app", "lib/main", "quarkus"] {
        std::fs::create_dir_all(at.join("run").join(inner)).expect("a folder");
    }
    for (source, jar) in [
        ("shop", "run/app/shop.jar"),
        ("tools", "run/lib/main/tools.jar"),
    ] {
        let file = if source == "shop" {
            "shop/Main.java"
        } else {
            "tools/Tool.java"
        };
        let classes = format!("classes/{source}");
        tool(at, "javac", &["-g", "-d", &classes, file]);
        tool(at, "jar", &["cf", jar, "-C", &classes, "."]);
    }
    tool(
        at,
        "javac",
        &["-g", "-d", "classes/launcher", "launcher/Main.java"],
    );
    let jar = [
        "cfe",
        "run/quarkus-run.jar",
        "launcher.Main",
        "-C",
        "classes/launcher",
        ".",
    ];
    tool(at, "jar", &jar);
    let jar = at.join("run/quarkus-run.jar").display().to_string();
    let mut shop = Shop::start("java", &format!("-jar '{jar}'"));
    shop.is_watched();
    assert_eq!(shop.files(), ["shop/Main.java"]);
}
