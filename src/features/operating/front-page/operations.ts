import Type from 'typebox'
import { defineOperation } from '../../../contract/define.ts'
import { fields } from '../../../contract/schemas.ts'

const open = { method: 'GET', surface: 'discovery', visibility: 'public', retry: 'read' } as const

export const getFrontPage = defineOperation({
  ...open,
  id: 'getFrontPage',
  path: '/',
  summary: 'What this is, and where to go: a page for a browser, text for everybody else',
  access: { kind: 'anyone', reason: 'whoever opens the address has no credential yet, and is told how to get one' },
  headers: fields({ accept: Type.Optional(Type.String()) }),
  responses: { 200: { description: 'The page', schema: null, mediaType: 'text/html' } },
})

export const getIcon = defineOperation({
  ...open,
  id: 'getIcon',
  path: '/favicon.ico',
  summary: 'The icon of its pages',
  access: { kind: 'anyone', reason: 'browsers ask for it by themselves, without a credential' },
  responses: { 200: { description: 'The icon', schema: null, mediaType: 'image/x-icon' } },
})
