//! Clients that write a whole body before they look for an answer.

use std::time::Duration;

use riverrun_api::ApiOptions;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::harness::Server;

const MIB: usize = 1 << 20;
const HEAD: &str = "POST /api/queue/q/jobs HTTP/1.1\r\nhost: x\r\n";

async fn connect() -> (Server, TcpStream) {
    let options = ApiOptions {
        max_body_bytes: MIB,
        ..ApiOptions::default()
    };
    let server = Server::with(options).await;
    let stream = TcpStream::connect(server.listen().await).await.unwrap();
    (server, stream)
}

/// One answer with a `content-length`.
async fn answer(stream: &mut TcpStream) -> String {
    let mut read = String::new();
    loop {
        let mut piece = [0; 4_096];
        let count = stream.read(&mut piece).await.unwrap();
        assert!(count > 0, "the answer ends early: {read}");
        read.push_str(std::str::from_utf8(&piece[..count]).unwrap());
        let Some((head, body)) = read.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then_some(value)
        });
        if length.unwrap().parse::<usize>().unwrap() == body.len() {
            return read;
        }
    }
}

/// The body is more than what the machine would keep on its way: it is read, or it cannot be
/// written.
#[tokio::test]
async fn a_client_that_writes_all_of_a_large_body_finds_the_answer() {
    let (_server, mut stream) = connect().await;
    let size = 40 * MIB;
    let head = format!("{HEAD}content-length: {size}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b'x'; size]).await.unwrap();
    let refused = answer(&mut stream).await;
    assert!(refused.starts_with("HTTP/1.1 413 "), "{refused}");
    assert!(refused.contains("TOO_LARGE"), "{refused}");
    // And the connection is as good as before.
    let next = b"GET /api/version HTTP/1.1\r\nhost: x\r\n\r\n";
    stream.write_all(next).await.unwrap();
    let next = answer(&mut stream).await;
    assert!(next.starts_with("HTTP/1.1 200 "), "{next}");
}

#[tokio::test]
async fn the_same_holds_for_a_body_without_a_length_and_a_route_that_is_none() {
    for (path, status) in [("/api/queue/q/jobs", 413), ("/nowhere", 404)] {
        let (_server, mut stream) = connect().await;
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let chunk = [b"100000\r\n".as_slice(), &vec![b'x'; MIB], b"\r\n"].concat();
        for _ in 0..40 {
            stream.write_all(&chunk).await.unwrap();
        }
        stream.write_all(b"0\r\n\r\n").await.unwrap();
        let refused = answer(&mut stream).await;
        assert!(
            refused.starts_with(&format!("HTTP/1.1 {status} ")),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_body_without_an_end_is_not_read_for_ever() {
    let (_server, mut stream) = connect().await;
    let head = format!("{HEAD}transfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = [b"100000\r\n".as_slice(), &vec![b'x'; MIB], b"\r\n"].concat();
    let written = async {
        let mut written = 0;
        while stream.write_all(&chunk).await.is_ok() {
            written += MIB;
        }
        written
    };
    let written = tokio::time::timeout(Duration::from_secs(60), written).await;
    let written = written.expect("it was read for ever");
    assert!((64 * MIB..128 * MIB).contains(&written), "{written}");
}

/// Nothing comes from a client that waits to be asked, so there is nothing to read on.
#[tokio::test]
async fn a_client_that_waits_to_be_asked_is_answered_and_left() {
    let (_server, mut stream) = connect().await;
    let head = format!(
        "{HEAD}content-length: {}\r\nexpect: 100-continue\r\n\r\n",
        40 * MIB
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let refused = answer(&mut stream).await;
    assert!(refused.starts_with("HTTP/1.1 413 "), "{refused}");
    let ended = tokio::time::timeout(Duration::from_secs(4), stream.read(&mut [0])).await;
    assert_eq!(ended.expect("the connection is kept").unwrap(), 0);
}

/// Memory for bodies is bounded for all requests together. Clients that do not finish their bodies
/// keep no small request from being answered, and give their room back when they go.
#[tokio::test]
async fn unfinished_bodies_take_no_more_than_their_room() {
    let options = ApiOptions {
        max_body_bytes: MIB,
        max_bodies_bytes: MIB,
        ..ApiOptions::default()
    };
    let server = Server::with(options).await;
    let address = server.listen().await;
    let body = format!(r#"{{"data":"{}"}}"#, "x".repeat(MIB - 1_000));
    let head = HEAD.replace("/jobs", "/jobs?create=true");
    let head = format!("{head}content-length: {}\r\n\r\n", body.len());
    let mut unfinished = Vec::new();
    for _ in 0..8 {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
            .write_all(&body.as_bytes()[..128 << 10])
            .await
            .unwrap();
        unfinished.push(stream);
    }
    let mut small = TcpStream::connect(&address).await.unwrap();
    let job = r#"{"data":1}"#;
    let head_of_job = head.replace(&body.len().to_string(), &job.len().to_string());
    small.write_all(head_of_job.as_bytes()).await.unwrap();
    small.write_all(job.as_bytes()).await.unwrap();
    assert!(answer(&mut small).await.starts_with("HTTP/1.1 201 "));
    drop(unfinished);
    for _ in 0..3 {
        let mut large = TcpStream::connect(&address).await.unwrap();
        large.write_all(head.as_bytes()).await.unwrap();
        large.write_all(body.as_bytes()).await.unwrap();
        let added = answer(&mut large).await;
        assert!(added.starts_with("HTTP/1.1 201 "), "{added}");
    }
}
