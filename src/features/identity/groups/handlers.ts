import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorFrom } from '../../../journal/actor.ts'
import {
  addMember,
  allGroups,
  createGroup,
  deleteGroup,
  type GroupDeps,
  groupById,
  removeGrant,
  removeMember,
  setGrant,
} from './groups.ts'
import * as operations from './operations.ts'

const done = { status: 204, json: null } as const

export const groupHandlers = (deps: GroupDeps): BoundOperation[] => [
  handle(operations.listAccessGroups, async () => ({ status: 200, json: { items: await allGroups(deps) } })),
  handle(operations.createAccessGroup, async (input) => ({
    status: 201,
    json: await createGroup(deps, input.body.name, actorFrom(input)),
  })),
  handle(operations.getAccessGroup, async ({ path }) => ({ status: 200, json: await groupById(deps, path.id) })),
  handle(operations.deleteAccessGroup, async (input) => {
    await deleteGroup(deps, input.path.id, actorFrom(input))
    return done
  }),
  handle(operations.addAccessGroupMember, async (input) => {
    await addMember(deps, input.path.id, input.path.userId, actorFrom(input))
    return done
  }),
  handle(operations.removeAccessGroupMember, async (input) => {
    await removeMember(deps, input.path.id, input.path.userId, actorFrom(input))
    return done
  }),
  handle(operations.setAccessGroupGrant, async (input) => {
    await setGrant(deps, input.path.id, input.path.repository, input.body.access, actorFrom(input))
    return done
  }),
  handle(operations.removeAccessGroupGrant, async (input) => {
    await removeGrant(deps, input.path.id, input.path.repository, actorFrom(input))
    return done
  }),
]
