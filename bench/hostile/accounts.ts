import { svcClient } from '../svc-client.ts'

const accounts = ['crowd', 'reader', 'sender-one', 'sender-two', 'syncer', 'opener'] as const

/** A session of each account of the neighbours. */
export type Sessions = Readonly<Record<(typeof accounts)[number], string>>

/** Makes the accounts, which may read and write in `releases`, and signs them in. */
export const openSessions = async (base: string, recoveryKey: string): Promise<Sessions> => {
  const administrator = svcClient(base, recoveryKey, 1)
  const group = await administrator.ask('POST', '/api/v1/access-groups', { name: 'neighbours' })
  const path = `/api/v1/access-groups/${String(group['id'])}`
  await administrator.ask('PUT', `${path}/grants/releases`, { access: 'write' })
  const sessions = { crowd: '', reader: '', 'sender-one': '', 'sender-two': '', syncer: '', opener: '' }
  for (const account of accounts) {
    const person = { name: `bench-${account}`, password: `the password of ${account}` }
    const { id } = await administrator.ask('POST', '/api/v1/users', person)
    await administrator.ask('PUT', `${path}/members/${String(id)}`)
    sessions[account] = String((await administrator.ask('POST', '/api/v1/auth/login', person))['token'])
  }
  administrator.close()
  return sessions
}
