//! Real clients and servers with a tap between them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use futures_util::SinkExt;
use isobath_exec::database::Address;
use isobath_exec::engine::{Engine, provision};
use isobath_exec::server::{Server, or_skip, shared, start};
use isobath_exec::tap::{RowEffect, Statement, Tap, environment};
use mysql_async::prelude::Queryable;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls};

/// Runs asynchronous work, within bounds.
fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(async { tokio::time::timeout(Duration::from_secs(30), work).await })
        .expect("something hangs")
}

/// An empty database with a tap in front of it, if there is such a server.
fn tapped(what: &str, engine: Engine) -> Option<(Tap, String)> {
    let server = or_skip(&format!("{what} on {engine}"), shared(engine))?;
    Some(tap(server))
}

fn tap(server: &Server) -> (Tap, String) {
    let address = Address::parse(&server.create_database().unwrap()).unwrap();
    let tap = Tap::open(&address, None).unwrap();
    tap.begin_candidate();
    let url = environment::url(&address, tap.at()).unwrap();
    (tap, url)
}

async fn postgres(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn mysql(url: &str) -> mysql_async::Conn {
    let url = url.replacen("mariadb:", "mysql:", 1);
    let opts = mysql_async::Opts::from_url(&url).unwrap();
    let opts = mysql_async::OptsBuilder::from_opts(opts).prefer_socket(false);
    mysql_async::Conn::new(opts).await.unwrap()
}

/// One statement per line.
fn lines(statements: &[Statement]) -> String {
    let lines = statements.iter().map(|statement| {
        let touched = match statement.touched {
            RowEffect::Returned(rows) => format!("returned {rows}"),
            RowEffect::Changed(rows) => format!("changed {rows}"),
            RowEffect::Nothing => "nothing".to_owned(),
        };
        let failure = statement.failure.as_ref();
        let failure = failure
            .map(|failure| format!(" | {failure}"))
            .unwrap_or_default();
        format!(
            "{} | {} | {touched}{failure}",
            statement.action, statement.text
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn observed(tap: &Tap) -> String {
    let (statements, dropped) = tap.statements();
    assert_eq!(dropped, 0);
    assert_eq!(tap.counts().not_understood, 0);
    lines(&statements)
}

#[test]
fn values_of_all_common_types_are_seen_on_postgresql() {
    let Some((tap, url)) = tapped("values through a tap", Engine::Postgres) else {
        return;
    };
    wait(async {
        let client = postgres(&url).await;
        let day = jiff::civil::date(2024, 2, 29);
        client
            .batch_execute(
                "CREATE TYPE mood AS ENUM ('sad', 'glad');
                 CREATE TABLE t (a int PRIMARY KEY, b int8, c text, d bool, e float8, f float4, g bytea, h date,
                   i timestamp, j timestamptz, k uuid, l jsonb, m int4[], n text[], o mood, p numeric(10,2), q inet)",
            )
            .await
            .unwrap();
        tap.begin_candidate();
        tap.begin_action(3);
        let (bytes, numbers, names) = (vec![0xde_u8, 0xad], vec![7_i32, -8], vec!["x", "y'z"]);
        let parameters: Vec<&(dyn ToSql + Sync)> = vec![
            &-1_i32,
            &9_000_000_000_i64,
            &"it's \\ ☃",
            &true,
            &2.5_f64,
            &0.5_f32,
            &bytes,
            &numbers,
            &names,
            &Option::<&str>::None,
        ];
        let texts = "INSERT INTO t (a, b, c, d, e, f, g, m, n, l) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text::jsonb)";
        client.execute(texts, &parameters).await.unwrap();
        let quoted = format!(
            "UPDATE t SET h = $1::text::date, i = '{day} 01:02:03', p = $2::text::numeric, o = $3::text::mood WHERE a = $4"
        );
        client
            .execute(&quoted, &[&"2024-02-29", &"12.50", &"glad", &-1_i32])
            .await
            .unwrap();
        // The values come from the server in its own binary form, and go back in it.
        let row = client
            .query_one("SELECT h, i, p, o FROM t WHERE a = $1", &[&-1_i32])
            .await
            .unwrap();
        let raw: Vec<Raw> = (0..4).map(|at| row.get(at)).collect();
        let found = client
            .query(
                "SELECT a FROM t WHERE h = $1 AND i = $2 AND p = $3 AND o = $4",
                &[&raw[0], &raw[1], &raw[2], &raw[3]],
            )
            .await
            .unwrap();
        assert_eq!(found.len(), 1);
    });
    let (mut statements, _) = tap.statements();
    // The client asks for what it does not know of types by statements of its own.
    statements.retain(|statement| !statement.text.contains("pg_catalog"));
    insta::assert_snapshot!(lines(&statements), @r"
    3 | INSERT INTO t (a, b, c, d, e, f, g, m, n, l) VALUES ((-1), 9000000000, 'it''s \ ☃', TRUE, 2.5e0, 5e-1, '\xdead'::bytea, ARRAY[7, -8], ARRAY['x', 'y''z'], NULL::text::jsonb) | changed 1
    3 | UPDATE t SET h = '2024-02-29'::text::date, i = '2024-02-29 01:02:03', p = '12.50'::text::numeric, o = 'glad'::text::mood WHERE a = (-1) | changed 1
    3 | SELECT h, i, p, o FROM t WHERE a = (-1) | returned 1
    3 | SELECT a FROM t WHERE h = DATE '2024-02-29' AND i = TIMESTAMP '2024-02-29 01:02:03' AND p = 12.50 AND o = 'glad' | returned 1
    ");
}

/// A value in the form in which the server sent it.
#[derive(Debug)]
struct Raw(Vec<u8>);

impl<'a> tokio_postgres::types::FromSql<'a> for Raw {
    fn from_sql(
        _: &tokio_postgres::types::Type,
        raw: &'a [u8],
    ) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw.to_vec()))
    }

    fn accepts(_: &tokio_postgres::types::Type) -> bool {
        true
    }
}

impl ToSql for Raw {
    fn to_sql(
        &self,
        _: &tokio_postgres::types::Type,
        out: &mut bytes::BytesMut,
    ) -> Result<tokio_postgres::types::IsNull, Box<dyn std::error::Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(tokio_postgres::types::IsNull::No)
    }

    fn accepts(_: &tokio_postgres::types::Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

#[test]
fn values_of_all_common_types_are_seen_on_mariadb() {
    use mysql_async::Value;
    let Some((tap, url)) = tapped("values through a tap", Engine::MariaDb) else {
        return;
    };
    wait(async {
        let mut conn = mysql(&url).await;
        conn.query_drop(
            "CREATE TABLE t (a INT PRIMARY KEY, b BIGINT UNSIGNED, c TEXT, d DOUBLE, e FLOAT, f BLOB, g DATE, h DATETIME(6), i TIME,
             j DECIMAL(10,2), k JSON, l ENUM('sad','glad'), m VARCHAR(20))",
        )
        .await
        .unwrap();
        tap.begin_candidate();
        tap.begin_action(4);
        let values = vec![
            Value::Int(-1),
            Value::UInt(u64::MAX),
            Value::from("it's \\ ☃"),
            Value::Double(2.5),
            Value::Float(0.5),
            Value::Bytes(vec![0xff, 0]),
            Value::Date(2024, 2, 29, 0, 0, 0, 0),
            Value::Date(2024, 2, 29, 1, 2, 3, 450_000),
            Value::Time(false, 0, 23, 59, 58, 0),
            Value::from("12.50"),
            Value::from("{}"),
            Value::from("glad"),
            Value::NULL,
        ];
        conn.exec_drop(
            "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            values,
        )
        .await
        .unwrap();
        let found: Vec<mysql_async::Row> = conn
            .exec("SELECT * FROM t WHERE a = ? AND c = '?'", (-1,))
            .await
            .unwrap();
        assert_eq!(found.len(), 0);
        let results = conn
            .query_iter("UPDATE t SET m = 'x;y'; SELECT m FROM t; DELETE FROM t WHERE a = 2")
            .await
            .unwrap();
        results.drop_result().await.unwrap();
        conn.disconnect().await.unwrap();
    });
    insta::assert_snapshot!(observed(&tap), @r"
    4 | INSERT INTO t VALUES ((-1), 18446744073709551615, 'it''s \\ ☃', 2.5e0, 5e-1, X'ff00', TIMESTAMP '2024-02-29 00:00:00', TIMESTAMP '2024-02-29 01:02:03.45', TIME '23:59:58', '12.50', '{}', 'glad', NULL) | changed 1
    4 | SELECT * FROM t WHERE a = (-1) AND c = '?' | returned 0
    4 | UPDATE t SET m = 'x;y' | changed 1
    4 | SELECT m FROM t | returned 1
    4 | DELETE FROM t WHERE a = 2 | changed 0
    ");
}

#[test]
fn failures_name_state_and_constraint() {
    for engine in [Engine::Postgres, Engine::MariaDb] {
        let Some((tap, url)) = tapped("failures through a tap", engine) else {
            continue;
        };
        let texts = [
            "CREATE TABLE p (a INT PRIMARY KEY, b INT NOT NULL, CONSTRAINT p_b CHECK (b > 0))",
            "CREATE TABLE c (a INT, CONSTRAINT c_a FOREIGN KEY (a) REFERENCES p (a))",
            "INSERT INTO p VALUES (1, 1)",
            "INSERT INTO p VALUES (1, 2)",
            "INSERT INTO p VALUES (2, NULL)",
            "INSERT INTO p VALUES (3, -1)",
            "INSERT INTO c VALUES (9)",
            "SELECT nothing FROM nowhere",
        ];
        wait(async {
            if engine == Engine::Postgres {
                let client = postgres(&url).await;
                for text in texts {
                    // Once by the simple protocol, once prepared.
                    if client.simple_query(text).await.is_err() {
                        client.query(text, &[]).await.unwrap_err();
                    }
                }
            } else {
                let mut conn = mysql(&url).await;
                for text in texts {
                    if conn.query_drop(text).await.is_err() {
                        conn.exec_drop(text, ()).await.unwrap_err();
                    }
                }
                conn.disconnect().await.unwrap();
            }
        });
        let (statements, _) = tap.statements();
        let told: Vec<String> = statements
            .iter()
            .filter_map(|statement| {
                let failure = &statement.failure.as_ref()?.0;
                Some(format!(
                    "{} {} {:?} {:?} {:?}",
                    failure.sqlstate.as_deref()?,
                    failure.kind,
                    failure.constraint,
                    failure.table,
                    failure.columns
                ))
            })
            .collect();
        let (first, second): (Vec<_>, Vec<_>) =
            told.chunks(2).map(|pair| (&pair[0], &pair[1])).unzip();
        assert_eq!(first, second, "both ways fail alike on {engine}");
        let told = first.into_iter().cloned().collect::<Vec<_>>().join("\n");
        if engine == Engine::Postgres {
            insta::assert_snapshot!(told, @r#"
            23505 UNIQUE Some("p_pkey") Some("p") ["a"]
            23502 NOT NULL None Some("p") ["b"]
            23514 CHECK Some("p_b") Some("p") []
            23503 FOREIGN KEY Some("c_a") Some("c") ["a"]
            42P01 other None None []
            "#);
        } else {
            insta::assert_snapshot!(told, @r#"
            23000 PRIMARY KEY Some("PRIMARY") None []
            23000 NOT NULL None None ["b"]
            23000 CHECK Some("p_b") Some("p") []
            23000 FOREIGN KEY Some("c_a") Some("c") ["a"]
            42S02 other None None []
            "#);
        }
    }
}

#[test]
fn pipelines_transactions_and_copies_pass_untouched() {
    let Some((tap, url)) = tapped("pipelines through a tap", Engine::Postgres) else {
        return;
    };
    wait(async {
        let mut client = postgres(&url).await;
        client
            .batch_execute("CREATE TABLE t (a int PRIMARY KEY)")
            .await
            .unwrap();
        let insert = client.prepare("INSERT INTO t VALUES ($1)").await.unwrap();
        tap.begin_candidate();
        let insert_one = async |number: i32| client.execute(&insert, &[&number]).await;
        let (first, second, third) = tokio::join!(insert_one(1), insert_one(1), insert_one(2));
        assert_eq!(
            (first.is_ok(), second.is_ok(), third.is_ok()),
            (true, false, true)
        );
        let sink = client.copy_in("COPY t FROM STDIN").await.unwrap();
        let mut sink = std::pin::pin!(sink);
        sink.send(bytes::Bytes::from_static(b"3\n4\n"))
            .await
            .unwrap();
        assert_eq!(sink.finish().await.unwrap(), 2);
        let transaction = client.transaction().await.unwrap();
        transaction.execute(&insert, &[&5_i32]).await.unwrap();
        transaction.rollback().await.unwrap();
        let portal = client.transaction().await.unwrap();
        let bound = portal
            .bind("SELECT a FROM t ORDER BY a", &[])
            .await
            .unwrap();
        assert_eq!(portal.query_portal(&bound, 3).await.unwrap().len(), 3);
        assert_eq!(portal.query_portal(&bound, 3).await.unwrap().len(), 1);
        portal.commit().await.unwrap();
    });
    insta::assert_snapshot!(observed(&tap), @r#"
    0 | INSERT INTO t VALUES (1) | changed 1
    0 | INSERT INTO t VALUES (1) | nothing | 23505: duplicate key value violates unique constraint "t_pkey" (UNIQUE: constraint "t_pkey", table "t", column "a")
    0 | INSERT INTO t VALUES (2) | changed 1
    0 | COPY t FROM STDIN | changed 2
    0 | START TRANSACTION | nothing
    0 | INSERT INTO t VALUES (5) | changed 1
    0 | ROLLBACK | nothing
    0 | START TRANSACTION | nothing
    0 | SELECT a FROM t ORDER BY a | returned 3
    0 | COMMIT | nothing
    "#);
}

#[test]
fn a_statement_that_hangs_is_told_and_can_be_cancelled() {
    let Some((tap, url)) = tapped("a lock behind a tap", Engine::Postgres) else {
        return;
    };
    wait(async {
        let holder = postgres(&url).await;
        holder
            .batch_execute("CREATE TABLE t (a int)")
            .await
            .unwrap();
        holder.batch_execute("BEGIN; LOCK TABLE t").await.unwrap();
        let waiter = postgres(&url).await;
        tap.begin_candidate();
        tap.begin_action(1);
        let token = waiter.cancel_token();
        let mut hanging = tokio::spawn(async move { waiter.simple_query("SELECT a FROM t").await });
        let told = loop {
            tokio::task::yield_now().await;
            let (statements, _) = tap.statements();
            if !statements.is_empty() {
                break lines(&statements);
            }
        };
        assert_eq!(told, "1 | SELECT a FROM t | nothing | 08006: no answer yet");
        // The answer belongs to a candidate that nobody asks for any more.
        tap.begin_candidate();
        // A request that overtakes the statement has no effect.
        let error = loop {
            token.cancel_query(NoTls).await.unwrap();
            let timeout = Duration::from_millis(100);
            if let Ok(ended) = tokio::time::timeout(timeout, &mut hanging).await {
                break ended.unwrap().unwrap_err();
            }
        };
        assert_eq!(error.code().unwrap().code(), "57014");
        assert_eq!(observed(&tap), "");
        holder.batch_execute("ROLLBACK").await.unwrap();
    });
}

#[test]
fn a_wrong_password_is_refused_by_the_server_itself() {
    for engine in [Engine::Postgres, Engine::MariaDb] {
        let Some((tap, url)) = tapped("a wrong password through a tap", engine) else {
            continue;
        };
        let mut wrong = url::Url::parse(&url).unwrap();
        wrong.set_password(Some("wrong")).unwrap();
        let error = isobath_exec::connect(wrong.as_str()).err().unwrap();
        assert!(error.to_string().contains("login to"), "{error}");
        assert_eq!(tap.counts().not_understood, 0);
        assert!(tap.warnings().is_empty());
    }
}

#[test]
fn a_database_that_is_not_there_is_said_in_the_words_of_the_protocol() {
    for (scheme, engine) in [("postgres", Engine::Postgres), ("mysql", Engine::MariaDb)] {
        // Nobody listens on a port that was free a moment ago.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let gone = free.local_addr().unwrap();
        drop(free);
        let address = Address::parse(&format!("{scheme}://me:pw@{gone}/d")).unwrap();
        let tap = Tap::open(&address, None).unwrap();
        let url = environment::url(&address, tap.at()).unwrap();
        let error = isobath_exec::connect(&url).err().unwrap().to_string();
        assert!(
            error.contains("isobath: the database at"),
            "{engine}: {error}"
        );
        assert_eq!(tap.counts().refused, 1);
        let warnings = tap.warnings();
        assert!(warnings[0].contains("cannot be reached"), "{warnings:?}");
        // Said once.
        let _ = isobath_exec::connect(&url);
        assert!(tap.warnings().is_empty());
    }
}

#[test]
fn a_server_that_dies_ends_its_statement_and_not_the_tap() {
    for engine in [Engine::Postgres, Engine::MariaDb] {
        let Some(server) = or_skip(
            &format!("a killed server behind a tap on {engine}"),
            start(engine),
        ) else {
            continue;
        };
        let (tap, url) = tap(&server);
        let sleep = match engine {
            Engine::Postgres => "SELECT pg_sleep(60)",
            _ => "SELECT SLEEP(60)",
        };
        let (send, sent) = mpsc::channel();
        let asking = url.clone();
        let asker = thread::spawn(move || {
            let mut database = isobath_exec::connect(&asking).unwrap();
            send.send(()).unwrap();
            database.query(sleep).map(|_| ()).unwrap_err().to_string()
        });
        sent.recv().unwrap();
        while !lines(&tap.statements().0).contains(sleep) {
            thread::yield_now();
        }
        crate::servers::kill(server.pid().unwrap());
        let error = asker.join().unwrap();
        assert!(error.contains("lost the connection"), "{engine}: {error}");
        let told = loop {
            let told = lines(&tap.statements().0);
            if !told.contains("no answer yet") {
                break told;
            }
        };
        assert!(
            told.contains(sleep) && told.contains("before the answer"),
            "{engine}: {told}"
        );
        // A process that was killed may take a moment to let go of its port.
        let is_gone = |_| {
            let error = isobath_exec::connect(&url).err().unwrap().to_string();
            error.contains("cannot be reached")
        };
        assert!((0..10_000).any(is_gone), "{engine}");
    }
}

#[test]
fn connections_that_are_cut_can_be_opened_again() {
    for engine in [Engine::Postgres, Engine::MariaDb] {
        let Some((tap, url)) = tapped("a cut connection through a tap", engine) else {
            continue;
        };
        let mut database = isobath_exec::connect(&url).unwrap();
        database.query("SELECT 1").unwrap().unwrap();
        tap.cut();
        let error = database
            .query("SELECT 2")
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(error.contains("lost the connection"), "{error}");
        let mut database = isobath_exec::connect(&url).unwrap();
        database.query("SELECT 3").unwrap().unwrap();
        let told = lines(&tap.statements().0);
        assert!(
            told.contains("SELECT 1") && told.contains("SELECT 3"),
            "{told}"
        );
        assert_eq!(tap.counts().connections, 2);
        drop(tap);
        assert!(database.query("SELECT 4").is_err());
        assert!(isobath_exec::connect(&url).is_err());
    }
}

#[test]
fn a_client_that_wants_nothing_but_tls_is_told_about() {
    let Some((tap, _)) = tapped("a client with TLS", Engine::Postgres) else {
        return;
    };
    let mut client = TcpStream::connect(tap.at()).unwrap();
    client
        .write_all(&[0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f])
        .unwrap();
    let mut answer = [0];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"N");
    drop(client);
    let warnings = loop {
        let warnings = tap.warnings();
        if !warnings.is_empty() {
            break warnings;
        }
        thread::yield_now();
    };
    assert!(warnings[0].contains("sslmode=disable"), "{warnings:?}");
}

#[test]
fn a_client_that_speaks_nonsense_is_let_through_and_counted() {
    for engine in [Engine::Postgres, Engine::MariaDb] {
        let Some((tap, url)) = tapped("nonsense through a tap", engine) else {
            continue;
        };
        let mut client = TcpStream::connect(tap.at()).unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        client.write_all(&[0xff; 100]).unwrap();
        let _ = client.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        // The server closes, politely or not.
        let _ = client.read_to_end(&mut answer);
        isobath_exec::connect(&url)
            .unwrap()
            .query("SELECT 1")
            .unwrap()
            .unwrap();
    }
}

#[test]
fn a_test_database_in_memory_has_no_tap() {
    let error = Tap::open(&Address::SqliteMemory, None).unwrap_err();
    assert!(error.to_string().contains("no network connection to tap"));
    // The engine is there whatever else is.
    provision(Engine::Sqlite).unwrap();
}
