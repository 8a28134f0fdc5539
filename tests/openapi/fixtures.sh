#!/bin/sh
# Gives a server flows, runs, jobs, triggers and events whose ids the generated requests meet.
# Usage: fixtures.sh <url>
set -eu

post() {
    curl --silent --show-error --fail --output /dev/null \
        --header 'content-type: application/json' --data "$2" "$url$1"
}

url=$1
post /api/flows '{"id":"quick","version":"1.0.0","initialStepId":"a","steps":{"a":{"type":"set","config":{"value":1},"outputKey":"x"}}}'
post /api/flows '{"id":"waits","version":"1.0.0","initialStepId":"a","steps":{"a":{"type":"delay","config":{"ms":100000000}}}}'
for id in 0 1 2; do
    post /api/flows/waits/start "{\"runId\":\"$id\",\"tags\":[\"0\"],\"correlationId\":\"0\"}"
    post /api/flows/quick/start "{\"runId\":\"quick-$id\"}"
done
post '/api/queues/0/jobs?create=true' '{"data":1,"options":{"jobId":"job-0"}}'
post '/api/queues/mail/jobs?create=true' '{"data":1}'
post /api/triggers '{"id":"0","type":"manual","flow":"quick","config":{}}'
post /api/triggers '{"id":"hook","type":"http","flow":"quick","config":{"path":"/0","method":"POST"}}'
post /api/triggers '{"id":"nightly","type":"schedule","flow":"quick","config":{"cron":"0 3 * * *"}}'
post /api/events '{"type":"order.paid","data":1,"correlationId":"0"}'
post /api/events/orders/0 '[{"type":"order.sent"},{"type":"log.info","data":{"message":"x"}}]'
