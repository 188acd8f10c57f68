import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { logTo } from './log.ts'
import { forPeople } from './log-for-people.ts'

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

  it('tells of credentials only what kind they are, wherever they stand, and leaves names as they are', () => {
    const lines: string[] = []
    const log = logTo({ write: (line) => void lines.push(line) }, 'info')
    const secret = 'aB3-_'.repeat(9).slice(2)
    const service = `svc_01a2b3c4-0000-7000-8000-000000000000.${secret}`
    for (const sent of [
      `dps_${secret}`,
      `pat_${secret}`,
      service,
      `dtl_${secret.repeat(3)}`,
      `dpp_${secret.repeat(3)}`,
    ]) {
      log.warn({ path: `/a/${sent}/b`, err: new Error(`gone\n${sent}`) }, `of ${sent.slice(0, 20)}…`)
      const line = lines.at(-1) ?? ''
      assert.ok(!line.includes('aB3-_') && !line.includes('3-_aB'), line)
      assert.equal(JSON.parse(line).path, `/a/${sent.slice(0, 4)}…/b`)
    }
    const name = `/svc_backup_2026/pat_x.tar.gz/${'0a'.repeat(32)}`
    log.warn({ path: name }, 'a name')
    assert.equal(JSON.parse(lines.at(-1) ?? '').path, name)
  })

  it('is for people on a terminal: a line each, at once, an error with its cause', () => {
    const lines: string[] = []
    const log = logTo(forPeople({ write: (line) => void lines.push(line) }, false), 'info')
    log.info({ address: 'http://127.0.0.1:8080' }, 'started')
    assert.match(lines.join(''), /^\[\d\d:\d\d:\d\d\] INFO: started \{"address":"http:\/\/127\.0\.0\.1:8080"\}\n$/)
    log.info({ method: 'GET', path: '/a%0ab', status: 404, sent: 3, requestId: 'x' }, 'request')
    assert.match(lines.at(-1) ?? '', /INFO: GET \/a%0ab 404 \{"sent":3\}\n$/)
    log.error({ err: new Error('gone', { cause: new Error('why') }) }, 'a bug')
    assert.match(lines.join(''), /ERROR: a bug[\s\S]*gone[\s\S]*why/)
  })

  it('shows people what others sent, and their terminal obeys none of it', () => {
    const lines: string[] = []
    const log = logTo(forPeople({ write: (line) => void lines.push(line) }, false), 'info')
    const sent = 'x\u001b]0;title\u0007\u001b[2J\u009b2J\u202e\u2028\r\n[00:00:00] INFO: forged'
    log.warn({ method: 'GET', path: '/', status: 403, why: sent, deep: [{ sent }] }, 'request')
    log.error({ err: new Error(sent, { cause: new Error(sent) }), why: sent }, sent)
    const all = lines.join('')
    assert.equal([...all.matchAll(/\\u001b\]0;title/g)].length >= 4, true, all)
    assert.doesNotMatch(all.replaceAll('\n', ''), /[\p{Cc}\p{Bidi_Control}\u2028]/u)
    assert.doesNotMatch(all, /^\s*\[00:00:00\]/m)
    assert.match(all, /\n {4,}at /, 'a stack has its lines')
    assert.equal(all.split('\n').filter((line) => /^\S/.test(line)).length <= 3, true, all)
  })
})
