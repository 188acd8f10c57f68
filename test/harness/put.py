"""Sends each request of standard input, a JSON list, with http.client, and writes the statuses that it got."""
import http.client
import json
import sys

statuses = []
for each in json.load(sys.stdin):
    connection = http.client.HTTPConnection(each["host"], each["port"], timeout=60)
    try:
        connection.request(each["method"], each["path"], body=bytes(each["bytes"]), headers=each["headers"])
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)
    except Exception as error:
        statuses.append(repr(error))
    finally:
        connection.close()
print(json.dumps(statuses))
