-- For wrk with one thread: documents and tarballs of many packages in turn, as clients that install ask for them.
-- Arguments: the path of the registry, what packages are called before their numbers, and how many there are.
local prefix, called, count
local asked = 0

function init(arguments)
  prefix, called, count = arguments[1], arguments[2], tonumber(arguments[3])
end

function request()
  local name = called .. math.floor(asked / 2) % count
  local path = prefix .. "/" .. name
  if asked % 2 == 1 then path = path .. "/-/" .. name .. "-1.0.0.tgz" end
  asked = asked + 1
  return wrk.format("GET", path)
end
