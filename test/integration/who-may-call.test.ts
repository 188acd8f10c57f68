import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, it } from 'node:test'
import type { Operation } from '../../src/contract/operation.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { isEnough } from '../harness/probe.ts'
import {
  bare,
  essence,
  everyOperation,
  forAnyCredential,
  forEveryReader,
  forEverySession,
  hiddenByIt,
  open,
  operations,
  readActions,
} from './every-operation.ts'

/** Every operation, asked by who may not. */
after(closeConnections)

forEachEngine((engine) => {
  const site = everyOperation(engine)
  const { refused } = site

  it('answers 401 without a credential, before anything else is looked at', async () => {
    for (const operation of operations.filter(({ id }) => !open.includes(id)))
      for (const repository of ['releases', 'hidden', 'missing'])
        refused(
          await site.service.ask(bare(operation, null, repository)),
          401,
          'credential_missing',
          `${operation.id} ${repository}`,
        )
  })

  it('answers 401 to a wrong credential and to one of wrong length', async () => {
    const wrong = {
      hexadecimal: randomBytes(32).toString('hex'),
      session: `dps_${randomBytes(32).toString('base64url')}`,
      'almost right': `${site.owner.token.slice(0, -1)}${site.owner.token.endsWith('A') ? 'B' : 'A'}`,
      'too short': 'a'.repeat(31),
      'too long': 'a'.repeat(513),
      longest: 'a'.repeat(512),
    }
    for (const operation of operations.filter(({ id }) => !open.includes(id)))
      for (const [what, credential] of Object.entries(wrong))
        refused(
          await site.service.ask(bare(operation, credential)),
          401,
          'credential_invalid',
          `${operation.id}: a ${what} credential`,
        )
  })

  it('answers 401 to another scheme than Bearer, and reads its name without regard to case', async () => {
    for (const authorization of [
      `Basic ${btoa(`x:${site.owner.token}`)}`,
      site.owner.token,
      'Bearer',
      `Bearer ${site.owner.token} x`,
    ])
      refused(
        await site.service.ask({ path: '/api/v1/auth/me', headers: { authorization } }),
        401,
        'credential_invalid',
        authorization,
      )
    const lower = await site.service.ask({
      path: '/api/v1/auth/me',
      headers: { authorization: `bearer ${site.owner.token}` },
    })
    assert.equal(lower.status, 200)
  })

  it('takes no credential from the query or a cookie', async () => {
    const path = `/api/v1/auth/me?access_token=${site.owner.token}`
    refused(await site.service.ask({ path }), 401, 'credential_missing', 'query')
    const headers = { cookie: `session=${site.owner.token}; authorization=Bearer ${site.owner.token}` }
    refused(await site.service.ask({ path: '/api/v1/auth/me', headers }), 401, 'credential_missing', 'cookie')
  })

  it('looks at no credential where anyone may call', async () => {
    const told = await site.service.ask({ path: '/health/live', credential: 'nonsense' })
    assert.equal(told.status, 200)
  })

  it('answers 403 to a valid credential without the action', async () => {
    const exceptions = [...open, ...forAnyCredential, ...forEveryReader]
    // Of what asks for one of several actions, some is open to readers, and its handler says what.
    const isOpen = (each: Operation): boolean =>
      each.access.kind === 'repository' && each.access.oneOf !== undefined && isEnough(each, readActions)
    for (const operation of operations.filter((each) => !exceptions.includes(each.id) && !isOpen(each))) {
      const credential = forEverySession.includes(operation.id) ? site.service.healthKey : site.reader.token
      const told = await site.service.ask(bare(operation, credential))
      // A service account is the business of few; to all others none exists.
      // So are the jobs of others.
      if (hiddenByIt(operation)) refused(told, 404, 'not_found', operation.id)
      else refused(told, 403, 'permission_missing', operation.id)
    }
  })

  it('answers to who may not see a repository exactly as if it did not exist', async () => {
    const callers = {
      stranger: site.stranger.token,
      'health key': site.service.healthKey,
      reader: site.reader.token,
      owner: site.owner.token,
    }
    for (const operation of operations.filter(({ access }) => access.kind === 'repository'))
      for (const [who, credential] of Object.entries(callers)) {
        const what = `${operation.id} by ${who}`
        const unseen = await site.service.ask(bare(operation, credential, 'hidden'))
        refused(unseen, 404, 'not_found', what)
        for (const missing of ['missing', 'NO-REPOSITORY', '%00', '%F0%9F%98%80', 'x'.repeat(2000)])
          assert.deepEqual(
            essence(await site.service.ask(bare(operation, credential, missing))),
            essence(unseen),
            `${what}, ${missing}`,
          )
      }
  })
})
