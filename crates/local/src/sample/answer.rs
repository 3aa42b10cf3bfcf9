//! What each service of the sample says.

use super::call::Outbound;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use std::fmt::Write;

pub(super) struct Asked<'a> {
    pub(super) service: &'static str,
    pub(super) version: &'a str,
    pub(super) headers: &'a HeaderMap,
    pub(super) path: &'a str,
}

const WARES: [(&str, &str, u32); 3] =
    [("Lantern", "12.50", 3), ("Rope, 20 m", "31.00", 8), ("Compass", "44.00", 1)];

pub(super) async fn answer(asked: &Asked<'_>, outbound: &Outbound) -> (StatusCode, HeaderValue, String) {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    if asked.path != "/" {
        let said =
            json!({ "service": asked.service, "error": format!("there is nothing at {}", asked.path) });
        return (StatusCode::NOT_FOUND, JSON, format!("{said}\n"));
    }
    let mut said = json!({
        "service": asked.service,
        "version": asked.version,
        "caller": caller(asked.headers),
    });
    let from = asked.headers;
    match asked.service {
        "shop" => {
            let (catalog, prices, reviews) = tokio::join!(
                outbound.ask("catalog:9080", from),
                outbound.ask("prices", from),
                outbound.ask("reviews:9080", from),
            );
            (said["catalog"], said["prices"], said["reviews"]) = (catalog, prices, reviews);
            let accepts = from.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
            if !accepts.contains("json") {
                return (StatusCode::OK, HeaderValue::from_static("text/plain; charset=utf-8"), page(&said));
            }
        }
        "catalog" => {
            said["wares"] = WARES.iter().map(|(name, ..)| *name).collect();
            said["stock"] = outbound.ask("stock:9080", from).await;
        }
        "stock" => {
            said["left"] =
                WARES.iter().map(|(name, _, left)| ((*name).to_owned(), Value::from(*left))).collect();
        }
        "prices" => {
            said["prices"] =
                WARES.iter().map(|(name, price, _)| ((*name).to_owned(), Value::from(*price))).collect();
        }
        "reviews" => {
            said["text"] = "The lantern survived two storms and one cat.".into();
            // The first version knew nothing of stars.
            if asked.version != "v1" {
                said["stars"] = if asked.version == "v3" { "red".into() } else { "black".into() };
                said["ratings"] = outbound.ask("ratings:9080", from).await;
            }
        }
        "ratings" => said["stars"] = 4.into(),
        _ => {}
    }
    (StatusCode::OK, JSON, format!("{said}\n"))
}

/// Who called, as the sidecar proved it.
fn caller(headers: &HeaderMap) -> Value {
    let details =
        headers.get("x-forwarded-client-cert").and_then(|value| value.to_str().ok()).unwrap_or_default();
    // Of several the last is the one who called here.
    let last = details.rsplit(',').next().unwrap_or_default();
    last.split(';').find_map(|part| part.strip_prefix("URI=")).map_or(Value::Null, Value::from)
}

/// The shop for a terminal.
fn page(said: &Value) -> String {
    let mut page = String::from("The chandlery\n");
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let problem = |value: &Value| value.get("error").and_then(Value::as_str).map(str::to_owned);
    if let Some(reason) = problem(&said["catalog"]) {
        let _ = writeln!(page, "  the catalog is not available: {reason}");
    }
    for ware in said["catalog"]["wares"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let price = said["prices"]["prices"].get(ware).map_or_else(|| "?".to_owned(), &text);
        let left = said["catalog"]["stock"]["left"].get(ware).map_or_else(|| "?".to_owned(), &text);
        let _ = writeln!(page, "  {ware:<12} {price:>6}   {left} left");
    }
    let reviews = &said["reviews"];
    match problem(reviews) {
        Some(reason) => {
            let _ = writeln!(page, "Reviews are not available: {reason}");
        }
        None => {
            let _ = write!(page, "Reviews {}: {}", text(&reviews["version"]), text(&reviews["text"]));
            if let Some(colour) = reviews.get("stars").and_then(Value::as_str) {
                match (problem(&reviews["ratings"]), reviews["ratings"]["stars"].as_u64()) {
                    (None, Some(stars)) => {
                        let (star, none) = if colour == "red" { ("★", "☆") } else { ("*", ".") };
                        let count = usize::try_from(stars.min(5)).unwrap_or_default();
                        let _ = write!(page, " {}{}", star.repeat(count), none.repeat(5 - count));
                    }
                    (reason, _) => {
                        let _ = write!(
                            page,
                            " (no ratings: {})",
                            reason.unwrap_or_else(|| "none given".to_owned())
                        );
                    }
                }
            }
            page.push('\n');
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_is_the_last_that_a_sidecar_proved() {
        let mut headers = HeaderMap::new();
        assert_eq!(caller(&headers), Value::Null);
        let details = "By=spiffe://a;URI=spiffe://first,By=spiffe://b;Hash=1;Subject=\"\";URI=spiffe://last";
        headers.insert("x-forwarded-client-cert", HeaderValue::from_static(details));
        assert_eq!(caller(&headers), "spiffe://last");
    }

    #[test]
    fn the_shop_opens_whatever_is_missing() {
        let error = json!({ "error": "status 503" });
        let closed = page(&json!({ "catalog": error, "prices": error, "reviews": error }));
        assert!(
            closed.contains("catalog is not available") && closed.contains("Reviews are not available"),
            "{closed}"
        );
        let open = page(&json!({
            "catalog": { "wares": ["Rope"], "stock": { "left": { "Rope": 2 } } },
            "prices": { "prices": { "Rope": "3.00" } },
            "reviews": { "version": "v2", "text": "Good.", "stars": "black", "ratings": { "stars": 4 } },
        }));
        assert_eq!(open, "The chandlery\n  Rope           3.00   2 left\nReviews v2: Good. ****.\n");
    }
}
