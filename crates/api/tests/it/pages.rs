use riverrun_types::ErrorCode;

use crate::harness::Server;

#[tokio::test]
async fn the_server_says_how_it_is() {
    let server = Server::new().await;
    assert_eq!(server.get("/healthz").await.expect(200)["status"], "ok");
    assert_eq!(server.get("/readyz").await.expect(200)["status"], "ok");
    let version = server.get("/api/version").await.expect(200);
    assert_eq!(version["name"], "riverrun");
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    assert!(version["store"].is_object());
}

#[tokio::test]
async fn pages_need_nothing_from_elsewhere() {
    let server = Server::new().await;
    let errors = ErrorCode::ALL
        .iter()
        .map(|code| format!("/api/docs/errors/{code}"));
    let pages = ["/", "/api/docs", "/api/docs/errors"].map(str::to_owned);
    for path in pages.into_iter().chain(errors) {
        let answer = server.get(&path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.headers["content-type"], "text/html; charset=utf-8");
        let text = answer.text();
        assert!(text.starts_with("<!doctype html>"));
        for outside in ["http://", "https://", "<script", "@import", "url("] {
            assert!(!text.contains(outside), "{path} has {outside}");
        }
    }
    let docs = server.get("/api/docs").await.text();
    for said in [
        "/api/flows/{id}/start",
        "idempotencyKey",
        "Last-Event-ID",
        "schema-Run",
    ] {
        assert!(docs.contains(said), "the page does not say {said}");
    }
}
