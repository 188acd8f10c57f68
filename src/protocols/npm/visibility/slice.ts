import { slice } from '../../../contract/slice.ts'
import { npmVisibilityHandlers } from './handlers.ts'
import * as operations from './operations.ts'

/** Who may see a package, as npm asks for it: the rights are those of its repository. */
export const npmVisibility = slice({ operations, handlers: npmVisibilityHandlers })
