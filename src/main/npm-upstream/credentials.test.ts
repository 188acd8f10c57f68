import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { until } from '../../../test/harness/until.ts'
import { logTo } from '../log.ts'
import { SettingsInvalid } from '../settings/rules.ts'
import { credentialFor, openCredentials, parseCredentials } from './credentials.ts'

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`
const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('credentials for upstreams', () => {
  it('go to addresses below theirs and nowhere else, the longest first', () => {
    const credentials = parseCredentials(
      [
        '# comment',
        '; comment',
        '',
        '//npm.example.org/:_authToken=outer',
        '//npm.example.org/team/:_authToken = inner=with=signs ',
        '//other.example:8443/:username=me',
        `//other.example:8443/:_password=${base64('secret')}`,
        `//third.example/:_auth=${base64('a:b')}`,
      ].join('\r\n'),
    )
    for (const [url, authorization] of [
      ['https://npm.example.org/lodash', 'Bearer outer'],
      ['https://npm.example.org/team/lodash', 'Bearer inner=with=signs'],
      ['https://npm.example.org/team/../lodash', 'Bearer outer'],
      ['https://npm.example.org/team', 'Bearer outer'],
      ['https://npm.example.org:444/team/lodash', undefined],
      ['https://evil.example/npm.example.org/', undefined],
      ['https://npm.example.org.evil.example/', undefined],
      ['https://other.example:8443/x', basic('me:secret')],
      ['https://other.example/x', undefined],
      ['https://third.example/x', basic('a:b')],
    ] as const)
      assert.equal(credentialFor(credentials, new URL(url))['authorization'], authorization, url)
  })

  it('are refused whole where a line is none, and it is said which, without what it says', () => {
    for (const [text, words] of [
      ['_authToken=hunter2', /^line 1: it is not as/],
      ['//host/:_authToken=', /^line 1/],
      ['//host:_authToken=hunter2', /^line 1/],
      ['https://host/:_authToken=hunter2', /^line 1/],
      ['\n//host/:email=hunter2', /^line 2/],
      [`//host/:_authToken=${'$'}{HUNTER}`, /^line 1: variables are not filled in/],
      ['//host/:username=hunter2', /^\/\/host\/ has a username without a _password/],
      ['//[bad/:_authToken=hunter2', /^line 1/],
    ] as const)
      assert.throws(
        () => parseCredentials(text),
        (error) => {
          assert.ok(error instanceof Error)
          assert.match(error.message, words)
          assert.doesNotMatch(error.message, /hunter2/)
          return true
        },
        text,
      )
  })

  const fileIn = async (t: TestContext): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-npmrc-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    return join(folder, 'npmrc')
  }

  it('come from a file that nobody else can read; a wrong one ends the start', async (t) => {
    const path = await fileIn(t)
    const log = logTo({ write: () => undefined }, 'debug')
    const url = new URL('https://host/x')
    assert.deepEqual(await (await openCredentials(null, log))(url), {})
    await assert.rejects(openCredentials(path, log), SettingsInvalid)
    await writeFile(path, '//host/:_authToken=one\n', { mode: 0o600 })
    assert.deepEqual(await (await openCredentials(path, log))(url), { authorization: 'Bearer one' })
    await chmod(path, 0o640)
    await assert.rejects(openCredentials(path, log), /SVC_NPM_UPSTREAM_CREDENTIALS_FILE: .* read or write it/)
  })

  it('are read again when the file changes; of a wrong one nothing is taken', async (t) => {
    const path = await fileIn(t)
    const lines: string[] = []
    const log = logTo({ write: (line) => void lines.push(line) }, 'debug')
    await writeFile(path, '//host/:_authToken=one\n', { mode: 0o600 })
    const credentialsFor = await openCredentials(path, log)
    const sent = async () => (await credentialsFor(new URL('https://host/x')))['authorization']
    assert.equal(await sent(), 'Bearer one')
    await writeFile(path, 'nonsense')
    await until('the wrong file was refused', async () => {
      assert.equal(await sent(), 'Bearer one')
      return lines.some((line) => line.includes('npm_upstream.credentials_refused')) ? true : null
    })
    await writeFile(path, '//host/:_authToken=second')
    await until('the new one counts', async () => ((await sent()) === 'Bearer second' ? true : null))
    assert.doesNotMatch(lines.join(), /Bearer|second/)
  })
})
