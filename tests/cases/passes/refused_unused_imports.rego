# strict: true
package a

import data.b
