import assert from 'node:assert/strict'
import type { Answering } from './service.ts'

export interface Person {
  readonly id: string
  readonly name: string
  readonly password: string
  /** A session token. */
  readonly token: string
}

/** What everybody's password is at first. */
export const password = 'correct horse battery staple'

/** Opens a session; returns its token. */
export const signIn = async (service: Answering, name: string, secret = password): Promise<string> => {
  const told = await service.ask({ method: 'POST', path: '/api/v1/auth/login', json: { name, password: secret } })
  assert.equal(told.status, 200, told.text)
  return told.json.token
}

/** The first owner: an administrator who may write to `releases`. */
export const createOwner = (service: Answering): Promise<Person> => createPerson(service, 'owner', true)

/** An account, signed in. The recovery key makes it. */
export const createPerson = async (service: Answering, name: string, administrator = false): Promise<Person> => {
  const credential = service.recoveryKey
  const told = await service.ask({
    method: 'POST',
    path: '/api/v1/users',
    credential,
    json: { name, password, administrator },
  })
  assert.equal(told.status, 201, told.text)
  return { id: told.json.id, name, password, token: await signIn(service, name) }
}

export const createRepository = async (service: Answering, id: string): Promise<void> => {
  const told = await service.ask({
    method: 'POST',
    path: '/api/v1/repositories',
    credential: service.recoveryKey,
    json: { id },
  })
  assert.equal(told.status, 201, told.text)
}

/** Gives a person access to a repository through a group of its own; returns the group's id. */
export const grant = async (
  service: Answering,
  person: Person,
  repository: string,
  access: 'read' | 'write',
): Promise<string> => {
  const credential = service.recoveryKey
  const name = `${person.name}-${repository}-${access}`.slice(0, 64)
  const group = await service.ask({ method: 'POST', path: '/api/v1/access-groups', credential, json: { name } })
  assert.equal(group.status, 201, group.text)
  const path = `/api/v1/access-groups/${group.json.id}`
  const member = await service.ask({ method: 'PUT', path: `${path}/members/${person.id}`, credential })
  assert.equal(member.status, 204, member.text)
  const granted = await service.ask({
    method: 'PUT',
    path: `${path}/grants/${repository}`,
    credential,
    json: { access },
  })
  assert.equal(granted.status, 204, granted.text)
  return group.json.id
}
