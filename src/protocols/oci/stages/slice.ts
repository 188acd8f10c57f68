import { slice } from '../../../contract/slice.ts'
import { imageStageHandlers } from './handlers.ts'
import * as operations from './operations.ts'

/** Stages of images, in the interface of the service. */
export const imageStages = slice({ operations, handlers: imageStageHandlers })
