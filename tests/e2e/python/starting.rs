//! Ways to start a Python service, and what is said of one that does not come up as it should.

use super::*;

/// Exit code and output of a short run on the papers' examples.
fn start(arguments: &[&str]) -> Option<(Option<i32>, String)> {
    let short = ["--budget", "20calls", "--no-run", "--start-timeout", "30"];
    let run = Run::of("papers", PAPERS, &[arguments, &short].concat())?;
    Some((run.output.status.code(), run.said()))
}

#[test]
fn servers_reloaders_and_masters_are_followed_to_the_process_that_answers() {
    for command in [
        "uvicorn fastapi_app:app --port {port} --reload",
        "python -m hypercorn fastapi_app:app --bind 127.0.0.1:{port}",
        "gunicorn -b 127.0.0.1:{port} 'flask_app:create_app()'",
        "gunicorn --preload -b 127.0.0.1:{port} django_app:application",
        "flask --app 'flask_app:create_app()' run --port {port}",
        "flask --app flask_app run --port {port} --debug",
        "python django_app.py runserver 127.0.0.1:{port}",
        "python django_app.py runserver --noreload 127.0.0.1:{port}",
    ] {
        let Some((code, said)) = start(&["--python-start", command]) else {
            return;
        };
        assert!(matches!(code, Some(0 | 1)), "{command}: {said}");
        assert!(
            said.contains("exception at figures.py"),
            "{command}: {said}"
        );
    }
}

#[test]
fn several_serving_processes_are_refused() {
    let command = "gunicorn --workers 3 -b 127.0.0.1:{port} django_app:application";
    let Some((code, said)) = start(&["--python-start", command]) else {
        return;
    };
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("several processes"), "{said}");
    assert!(said.contains("one worker"), "{said}");
}

#[test]
fn a_driver_that_never_connects_is_explained() {
    let command = "python -E -m uvicorn fastapi_app:app --port {port}";
    let command = format!("PYTHONPATH= {command}");
    let Some((code, said)) = start(&["--python-start", &command]) else {
        return;
    };
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("`-E`"), "{said}");
    assert!(said.contains("Application startup complete"), "{said}");
}

#[test]
fn an_application_that_does_not_import_is_shown_with_the_reason() {
    let cases = [
        ("nowhere:app", "No module named 'nowhere'"),
        ("figures", "expected module:app"),
        ("figures:json", "cannot be called"),
        ("fastapi_app:missing", "has no attribute 'missing'"),
    ];
    for (application, why) in cases {
        let Some((code, said)) = start(&["--python", application]) else {
            return;
        };
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_service_that_dies_is_shown_with_its_last_lines() {
    let command = "python -c 'print(\"no license\"); raise SystemExit(7)' {port}";
    let Some((code, said)) = start(&["--python-start", command]) else {
        return;
    };
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.contains("no license") && said.contains("code 7"),
        "{said}"
    );
}

#[test]
fn a_command_needs_a_port_or_a_url() {
    let Some((code, said)) = start(&["--python-start", "python app.py"]) else {
        return;
    };
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--url"), "{said}");
}
