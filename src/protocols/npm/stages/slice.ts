import { slice } from '../../../contract/slice.ts'
import { npmStageHandlers } from './handlers.ts'
import * as operations from './operations.ts'

/** Stages of npm versions, in the interface of the service. */
export const npmStages = slice({ operations, handlers: npmStageHandlers })
