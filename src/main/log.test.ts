import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { forPeople, logTo } from './log.ts'

describe('the log', () => {
  it('is a JSON line an event, whose level is a word', () => {
    const lines: string[] = []
    const log = logTo({ write: (line) => void lines.push(line) }, 'info')
    log.debug('unsaid')
    log.warn({ path: '/x' }, 'others may read this')
    assert.equal(lines.length, 1)
    const { time, ...rest } = JSON.parse(lines[0] ?? '')
    assert.deepEqual(rest, { level: 'warn', path: '/x', msg: 'others may read this' })
    assert.match(time, /^\d{4}-\d\d-\d\dT/)
  })

  it('is for people on a terminal: a line each, at once, an error with its cause', async () => {
    const lines: string[] = []
    const log = logTo(await forPeople({ write: (line) => void lines.push(line) }, false), 'info')
    log.info({ address: 'http://127.0.0.1:8080' }, 'started')
    assert.match(lines.join(''), /^\[\d\d:\d\d:\d\d\] INFO: started \{"address":"http:\/\/127\.0\.0\.1:8080"\}\n$/)
    log.info({ method: 'GET', path: '/a%0ab', status: 404, sent: 3, requestId: 'x' }, 'request')
    assert.match(lines.at(-1) ?? '', /INFO: GET \/a%0ab 404 \{"sent":3\}\n$/)
    log.error({ err: new Error('gone', { cause: new Error('why') }) }, 'a bug')
    assert.match(lines.join(''), /ERROR: a bug[\s\S]*gone[\s\S]*why/)
  })
})
