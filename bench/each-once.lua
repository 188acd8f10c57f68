-- For wrk with one thread: each of many small files once, put or got, and then the seconds that it took.
-- Arguments: the method, the path before a file's number, bytes of a file, how many, and what makes contents differ.
local ffi = require("ffi")
ffi.cdef([[
  typedef struct { long seconds; long nanoseconds; } svc_time;
  int clock_gettime(int clock, svc_time *time);
]])

local monotonic = 1
local function now()
  local time = ffi.new("svc_time")
  ffi.C.clock_gettime(monotonic, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
end

local method, prefix, count, marked, filling
local asked, answered, began = 0, 0, nil
-- Got in another order than they were stored in: what lies side by side is not asked for side by side.
local stride = 7919

function init(arguments)
  method, prefix, count = arguments[1], arguments[2], tonumber(arguments[4])
  marked = arguments[5]
  filling = string.rep("x", tonumber(arguments[3]) - 16 - #marked)
end

function request()
  began = began or now()
  local number = asked % count
  asked = asked + 1
  if method == "GET" then return wrk.format(method, prefix .. (number * stride) % count) end
  return wrk.format(method, prefix .. number, nil, string.format("%016d", number) .. marked .. filling)
end

function response(status)
  if status >= 300 then
    io.stdout:write("refused: " .. status .. "\n")
    io.stdout:flush()
    os.exit(1)
  end
  answered = answered + 1
  if answered < count then return end
  io.stdout:write(string.format("each once in %.6f seconds\n", now() - began))
  io.stdout:flush()
  os.exit(0)
end
