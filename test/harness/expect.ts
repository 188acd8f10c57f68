import assert from 'node:assert/strict'
import { type Ask, methodOf, type Told } from './client.ts'
import type { TestService } from './service.ts'

/** Asks and insists on the status and, where one is given, on the reason code. */
export const expectAnswer = async (
  service: Pick<TestService, 'ask'>,
  request: Ask,
  status: number,
  code?: string,
): Promise<Told> => {
  const told = await service.ask(request)
  assertAnswer(request, told, status, code)
  return told
}

/** The reason code of a failure, which protocols of others tell in a list of errors, or as what they call it. */
export const reasonOf = ({ json }: Told): string => json.errors?.[0].detail.reason ?? json.reason ?? json.code

export const assertAnswer = (request: Ask, told: Told, status: number, code?: string): void => {
  const what = `${methodOf(request)} ${request.path}: ${told.text.slice(0, 400)}`
  assert.equal(told.status, status, what)
  if (code !== undefined) assert.equal(reasonOf(told), code, what)
}
