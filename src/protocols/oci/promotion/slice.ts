import { slice } from '../../../contract/slice.ts'
import { imagePromotionHandlers } from './handlers.ts'
import * as operations from './operations.ts'

/** Promotion of images, in the interface of the service. */
export const imagePromotion = slice({ operations, handlers: imagePromotionHandlers })
