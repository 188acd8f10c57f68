import { slice } from '../../../contract/slice.ts'
import { npmPromotionHandlers } from './handlers.ts'
import * as operations from './operations.ts'

/** Promotion of npm versions, in the interface of the service. */
export const npmPromotion = slice({ operations, handlers: npmPromotionHandlers })
