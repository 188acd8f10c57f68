import Type from 'typebox'
import { defineOperation } from '../../../contract/define.ts'
import { fields } from '../../../contract/schemas.ts'

const open = {
  method: 'GET',
  surface: 'discovery',
  visibility: 'public',
  retry: 'read',
  access: {
    kind: 'anyone',
    reason: 'its pages hold nothing of the service; what they show is asked for with a credential',
  },
} as const

/** What stands in the addresses of its pages is theirs to read. */
const addresses = Type.Object({}, { additionalProperties: true })
const heads = fields({
  'accept-encoding': Type.Optional(Type.String()),
  'if-none-match': Type.Optional(Type.String()),
})
const responses = {
  200: { description: 'A file of the console, or its page', schema: null, mediaType: 'text/html' },
  304: { description: 'The file that the client has', schema: null },
} as const

export const getConsole = defineOperation({
  ...open,
  id: 'getConsole',
  path: '/console/{path*}',
  summary: 'The console for browsers: its files, and its page at every other address below it',
  pathParameters: fields({ path: Type.String() }),
  query: addresses,
  headers: heads,
  responses,
  failures: ['not_found', 'not_implemented'],
})

export const findConsole = defineOperation({
  ...open,
  id: 'findConsole',
  path: '/console',
  summary: 'The page of the console, where its address was typed without a slash',
  query: addresses,
  headers: heads,
  responses,
  failures: ['not_implemented'],
})
