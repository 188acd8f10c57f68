import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { smallAuthority } from '../../test/harness/small-authority.ts'
import { doorData } from './door.ts'

it('every certificate of an own authority can be read, or it is said which one cannot', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-door-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const authoritiesFile = join(folder, 'authorities.pem')
  const proxies = { https: null, http: null, except: [] }
  const told = async (text: string): Promise<unknown> => {
    await writeFile(authoritiesFile, text)
    return doorData({ proxies }, { allowed: [], authoritiesFile }, (why) => new Error(why.replace(folder, ''))).then(
      ({ authorities }) => authorities,
      (error: Error) => error.message,
    )
  }
  const { certificate, issue } = await smallAuthority(t)
  const { key } = await issue(['example.org'])
  assert.deepEqual(await told(certificate), [certificate])
  const both = `The first:\n${certificate}\nThe second:\n${certificate}`
  assert.deepEqual(await told(both), [both])
  for (const none of ['', key, 'certificates'])
    assert.equal(await told(none), '/authorities.pem cannot be read, or has no certificate (PEM) in it')
  const garbage = certificate.replaceAll(/^(?!-).*$/gm, 'garbage')
  assert.equal(await told(garbage), 'certificate 1 of 1 in /authorities.pem cannot be read')
  for (const second of [garbage, certificate.slice(0, -100)])
    assert.equal(await told(`${certificate}${second}`), 'certificate 2 of 2 in /authorities.pem cannot be read')
})
